<?php
// A page whose request takes what `page.json` beside this file says.
$page = json_decode(file_get_contents(__DIR__ . '/page.json'), true);
if ($page['compute_us']) {
    $used = function () {
        $usage = getrusage();
        return $usage['ru_utime.tv_sec'] * 1e6 + $usage['ru_utime.tv_usec']
            + $usage['ru_stime.tv_sec'] * 1e6 + $usage['ru_stime.tv_usec'];
    };
    $until = $used() + $page['compute_us'];
    while ($used() < $until) {
    }
}
if ($page['lock_ms']) {
    $lock = fopen(__DIR__ . '/lock', 'w');
    flock($lock, LOCK_EX);
    usleep($page['lock_ms'] * 1000);
    fclose($lock);
}
if ($page['wait_ms']) {
    usleep($page['wait_ms'] * 1000);
}
if ($page['service_port']) {
    file_get_contents("http://127.0.0.1:{$page['service_port']}/");
}
header('Content-Type: text/plain');
header('Content-Length: 1024');
echo str_repeat('x', 1024);
