-- The five transactions as procedures: a call is one transaction. Its changes are kept unless `p_keep` is false, and
-- what is wrong with it undoes all of it. Outputs are result sets; the lines of an order are arrays of JSON.

CREATE PROCEDURE new_order(
    p_w INT, p_d INT, p_c INT, p_lines TEXT, p_now DATETIME(3), p_keep BOOL
) MODIFIES SQL DATA BEGIN
    DECLARE is_done BOOL DEFAULT FALSE;
    DECLARE r_order, r_discount, r_warehouse_tax, r_district_tax, r_missing, v_n_lines INT;
    DECLARE v_number, v_item, v_supply INT;
    DECLARE v_pieces, v_price, v_quantity BIGINT;
    DECLARE r_last VARCHAR(16);
    DECLARE r_credit CHAR(2);
    DECLARE v_name, v_info VARCHAR(24);
    DECLARE v_item_data, v_stock_data VARCHAR(50);
    DECLARE r_lines TEXT DEFAULT '';
    -- Stocks are locked in the same order by all.
    DECLARE ordered CURSOR FOR SELECT number, item, supply, pieces
        FROM JSON_TABLE(p_lines, '$[*]' COLUMNS (
            number FOR ORDINALITY, item INT PATH '$[0]', supply INT PATH '$[1]', pieces BIGINT PATH '$[2]')) AS o
        ORDER BY supply, item, number;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET is_done = TRUE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    SET v_n_lines = JSON_LENGTH(p_lines);
    SELECT w_tax, c_discount, c_last, c_credit INTO r_warehouse_tax, r_discount, r_last, r_credit
        FROM warehouse JOIN customer ON c_w_id = w_id WHERE w_id = p_w AND c_d_id = p_d AND c_id = p_c;
    SELECT d_tax, d_next_o_id INTO r_district_tax, r_order FROM district
        WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
    UPDATE district SET d_next_o_id = r_order + 1 WHERE d_w_id = p_w AND d_id = p_d;
    INSERT INTO orders VALUES (p_w, p_d, r_order, p_c, p_now, NULL, v_n_lines,
        NOT EXISTS (SELECT 1 FROM JSON_TABLE(p_lines, '$[*]' COLUMNS (supply INT PATH '$[1]')) AS o WHERE supply <> p_w));
    INSERT INTO new_order VALUES (p_w, p_d, r_order);
    SET is_done = FALSE;
    OPEN ordered;
    one_line: LOOP
        FETCH ordered INTO v_number, v_item, v_supply, v_pieces;
        IF is_done THEN
            LEAVE one_line;
        END IF;
        SET v_price = NULL;
        SELECT i_name, i_price, i_data INTO v_name, v_price, v_item_data FROM item WHERE i_id = v_item;
        IF v_price IS NULL THEN
            SET r_missing = v_item, is_done = FALSE;
            ITERATE one_line;
        END IF;
        SELECT s_quantity, s_data, CASE p_d
            WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
            WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END
            INTO v_quantity, v_stock_data, v_info FROM stock WHERE s_w_id = v_supply AND s_i_id = v_item FOR UPDATE;
        SET v_quantity = v_quantity - v_pieces + IF(v_quantity - v_pieces < 10, 91, 0);
        UPDATE stock SET s_quantity = v_quantity, s_ytd = s_ytd + v_pieces, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + (v_supply <> p_w) WHERE s_w_id = v_supply AND s_i_id = v_item;
        INSERT INTO order_line VALUES (
            p_w, p_d, r_order, v_number, v_item, v_supply, NULL, v_pieces, v_price * v_pieces, v_info);
        SET r_lines = CONCAT(r_lines, IF(r_lines = '', '[', ',['), v_number, ',', JSON_QUOTE(v_name), ',', v_quantity,
            IF(v_item_data LIKE '%ORIGINAL%' AND v_stock_data LIKE '%ORIGINAL%', ',true,', ',false,'), v_price, ',',
            v_price * v_pieces, ']');
    END LOOP;
    CLOSE ordered;
    IF p_keep AND r_missing IS NULL THEN
        COMMIT;
    ELSE
        ROLLBACK;
    END IF;
    SELECT r_order, r_last, r_credit, r_discount, r_warehouse_tax, r_district_tax, r_missing,
        CONCAT('[', r_lines, ']') AS r_lines;
END;

CREATE FUNCTION customer_number(p_w INT, p_d INT, p_c INT, p_last VARCHAR(16)) RETURNS INT READS SQL DATA BEGIN
    DECLARE n INT;
    IF p_c <> 0 THEN
        RETURN p_c;
    END IF;
    SELECT COUNT(*) INTO n FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_last;
    SET n = (n + 1) DIV 2 - 1;
    RETURN (SELECT c_id FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_last
        ORDER BY c_first, c_id LIMIT 1 OFFSET n);
END;

CREATE PROCEDURE payment(
    p_w INT, p_d INT, p_c_w INT, p_c_d INT, p_c INT, p_last VARCHAR(16), p_amount BIGINT, p_entry VARCHAR(500),
    p_now DATETIME(3), p_keep BOOL
) MODIFIES SQL DATA BEGIN
    DECLARE r_c INT;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    SET r_c = customer_number(p_c_w, p_c_d, p_c, p_last);
    UPDATE customer SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = IF(c_credit = 'BC', LEFT(CONCAT(r_c, p_entry, c_data), 500), c_data)
        WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = r_c;
    UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d;
    UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w;
    INSERT INTO history SELECT p_c_w, p_c_d, r_c, p_w, p_d, p_now, p_amount, CONCAT(w_name, '    ', d_name)
        FROM warehouse JOIN district ON d_w_id = w_id WHERE w_id = p_w AND d_id = p_d;
    SELECT c_id, c_first, c_middle, c_last, c_balance, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
        c_credit, c_credit_lim, c_discount, IF(c_credit = 'BC', c_data, NULL),
        d_street_1, d_street_2, d_city, d_state, d_zip, w_street_1, w_street_2, w_city, w_state, w_zip
        FROM customer JOIN district ON d_w_id = p_w AND d_id = p_d JOIN warehouse ON w_id = p_w
        WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = r_c;
    IF p_keep THEN
        COMMIT;
    ELSE
        ROLLBACK;
    END IF;
END;

CREATE PROCEDURE order_status(p_w INT, p_d INT, p_c INT, p_last VARCHAR(16)) READS SQL DATA BEGIN
    DECLARE v_c, v_order INT;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_order = NULL;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION READ ONLY;
    SET v_c = customer_number(p_w, p_d, p_c, p_last);
    SELECT o_id INTO v_order FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c
        ORDER BY o_id DESC LIMIT 1;
    SELECT c_id, c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id FROM customer
        LEFT JOIN orders ON o_w_id = p_w AND o_d_id = p_d AND o_id = v_order
        WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c;
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_order ORDER BY ol_number;
    COMMIT;
END;

CREATE PROCEDURE delivery(p_w INT, p_carrier INT, p_now DATETIME(3), p_keep BOOL) MODIFIES SQL DATA BEGIN
    DECLARE v_d INT DEFAULT 1;
    DECLARE v_order, v_customer, v_tries INT;
    DECLARE v_amount BIGINT;
    DECLARE r_orders TEXT DEFAULT '';
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_order = NULL;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    WHILE v_d <= 10 DO
        SET v_order = NULL, v_tries = 0;
        -- Where there seems to be none, another delivery may just have taken it, and others may have come since.
        WHILE v_order IS NULL AND v_tries < 2 DO
            SELECT no_o_id INTO v_order FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d
                ORDER BY no_o_id LIMIT 1 FOR UPDATE;
            SET v_tries = v_tries + 1;
        END WHILE;
        IF v_order IS NOT NULL THEN
            DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_order;
            SELECT o_c_id INTO v_customer FROM orders WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_order FOR UPDATE;
            UPDATE orders SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_order;
            UPDATE order_line SET ol_delivery_d = p_now WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_order;
            SELECT SUM(ol_amount) INTO v_amount FROM order_line
                WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_order;
            UPDATE customer SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
                WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_customer;
        END IF;
        SET r_orders = CONCAT(r_orders, IF(v_d = 1, '', ','), IFNULL(v_order, 'null'));
        SET v_d = v_d + 1;
    END WHILE;
    IF p_keep THEN
        COMMIT;
    ELSE
        ROLLBACK;
    END IF;
    SELECT CONCAT('[', r_orders, ']') AS r_orders;
END;

CREATE PROCEDURE stock_level(p_w INT, p_d INT, p_threshold BIGINT, p_recent INT) READS SQL DATA BEGIN
    SELECT COUNT(DISTINCT s_i_id) FROM district
        JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id BETWEEN d_next_o_id - p_recent AND d_next_o_id - 1
        JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE d_w_id = p_w AND d_id = p_d AND s_quantity < p_threshold;
END;
