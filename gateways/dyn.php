<?php
// Generated pages for PHP-FPM: the same pages, byte for byte, as from `plimsoll serve gateway`.
// The web server passes every dynamic path to this script; REQUEST_URI selects the page.

const SIZE_MAX = 10485760;
const SIMPLE_PREFIX = '<!DOCTYPE html><title>Made by a program</title><p>';

// The generator starts from the seed and computes one letter per step; no table, no precomputed data.
function letters(int $seed, int $count): string
{
    $x = $seed;
    $text = '';
    for ($k = 0; $k < $count; $k++) {
        $x = ($x * 1103515245 + 12345) & 0x7fffffff;
        $text .= chr(65 + ($x >> 16) % 26);
    }
    return $text;
}

// Digits of a number below 2^64, in full; null for anything else. PHP's integers end at 2^63.
function decimal(string $digits): ?string
{
    if (!preg_match('/\A[0-9]{1,20}\z/', $digits)) {
        return null;
    }
    $number = ltrim($digits, '0');
    $below = strlen($number) < 20 || strcmp($number, '18446744073709551615') <= 0;
    return $below ? ($number === '' ? '0' : $number) : null;
}

// The number modulo 2^31, the significant part of a seed.
function modulo31(string $number): int
{
    $rest = 0;
    foreach (str_split($number) as $digit) {
        $rest = ($rest * 10 + (int) $digit) & 0x7fffffff;
    }
    return $rest;
}

// Size and seed as given, each at most once; null for any other query.
function parameters(string $query): ?array
{
    $found = [];
    foreach ($query === '' ? [] : explode('&', $query) as $item) {
        $name = substr($item, 0, 5);
        $value = decimal((string) substr($item, 5));
        if (($name !== 'size=' && $name !== 'seed=') || $value === null || isset($found[$name])) {
            return null;
        }
        $found[$name] = $value;
    }
    return $found;
}

// Status, media type and body of the response.
function answer(string $method, string $path, string $query): array
{
    if ($path === '/dyn') {
        [$type, $prefix, $usual, $min] = ['text/plain', '', 1000, 1];
    } elseif ($path === '/cgi-bin/simple') {
        [$type, $prefix, $usual, $min] = ['text/html', SIMPLE_PREFIX, 1024, 64];
    } elseif (str_ends_with($path, '.dyn-send')) {
        [$type, $prefix, $usual, $min] = ['text/plain', '', 10240, 1];
    } else {
        return [404, 'text/plain', "404 Not Found\n"];
    }
    if ($method !== 'GET') {
        return [405, 'text/plain', "405 Method Not Allowed\n"];
    }
    $found = parameters($query);
    // A number of more than 9 digits is too large, and would not be one of PHP's.
    $text = $found['size='] ?? (string) $usual;
    $size = strlen($text) <= 9 ? (int) $text : SIZE_MAX + 1;
    if ($found === null || $size < $min || SIZE_MAX < $size) {
        $rule = "expected `size=N` with N from $min to " . SIZE_MAX . " and `seed=S` with S below 2^64\n";
        return [400, 'text/plain', $rule];
    }
    $seed = modulo31($found['seed='] ?? '0');
    return [200, $type, $prefix . letters($seed, $size - strlen($prefix))];
}

$uri = $_SERVER['REQUEST_URI'] ?? ($_SERVER['SCRIPT_NAME'] ?? '') . ($_SERVER['PATH_INFO'] ?? '');
[$status, $type, $body] = answer(
    $_SERVER['REQUEST_METHOD'] ?? '',
    explode('?', $uri, 2)[0],
    $_SERVER['QUERY_STRING'] ?? ''
);
http_response_code($status);
// Otherwise PHP adds a character set and its version.
ini_set('default_charset', '');
header_remove('X-Powered-By');
header("Content-Type: $type");
header('Content-Length: ' . strlen($body));
header('Cache-Control: no-store');
if ($status === 405) {
    header('Allow: GET');
}
echo $body;
