-- The five transactions as functions: a call is one transaction, and what is wrong with it undoes all of it.

CREATE FUNCTION new_order(
    p_w int, p_d int, p_c int, p_items int[], p_supplies int[], p_pieces bigint[], p_now timestamptz
) RETURNS TABLE (
    r_order int, r_last text, r_credit text, r_discount int, r_warehouse_tax int, r_district_tax int,
    r_names text[], r_stocks bigint[], r_originals bool[], r_prices bigint[], r_amounts bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
    n_lines int := cardinality(p_items);
    is_local bool;
    missing int;
    o record;
    i record;
    s record;
BEGIN
    r_names := array_fill(NULL::text, ARRAY[n_lines]);
    r_stocks := array_fill(NULL::bigint, ARRAY[n_lines]);
    r_originals := array_fill(NULL::bool, ARRAY[n_lines]);
    r_prices := array_fill(NULL::bigint, ARRAY[n_lines]);
    r_amounts := array_fill(NULL::bigint, ARRAY[n_lines]);
    is_local := p_w = ALL (p_supplies);
    SELECT w_tax, c_discount, c_last, c_credit INTO STRICT r_warehouse_tax, r_discount, r_last, r_credit
        FROM warehouse JOIN customer ON c_w_id = w_id WHERE w_id = p_w AND c_d_id = p_d AND c_id = p_c;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d
        RETURNING d_tax, d_next_o_id - 1 INTO STRICT r_district_tax, r_order;
    INSERT INTO orders VALUES (p_w, p_d, r_order, p_c, p_now, NULL, n_lines, is_local::int);
    INSERT INTO new_order VALUES (p_w, p_d, r_order);
    -- Stocks are locked in the same order by all.
    FOR o IN SELECT item, supply, pieces, number::int AS number
        FROM unnest(p_items, p_supplies, p_pieces) WITH ORDINALITY AS u (item, supply, pieces, number)
        ORDER BY supply, item, number
    LOOP
        SELECT i_name, i_price, i_data INTO i FROM item WHERE i_id = o.item;
        IF NOT FOUND THEN
            missing := o.item;
            CONTINUE;
        END IF;
        UPDATE stock SET
            s_quantity = s_quantity - o.pieces + CASE WHEN s_quantity - o.pieces < 10 THEN 91 ELSE 0 END,
            s_ytd = s_ytd + o.pieces, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + (o.supply <> p_w)::int
            WHERE s_w_id = o.supply AND s_i_id = o.item
            RETURNING s_quantity AS quantity, s_data AS data, CASE p_d
                WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END AS info
            INTO STRICT s;
        r_names[o.number] := i.i_name;
        r_stocks[o.number] := s.quantity;
        r_originals[o.number] := i.i_data LIKE '%ORIGINAL%' AND s.data LIKE '%ORIGINAL%';
        r_prices[o.number] := i.i_price;
        r_amounts[o.number] := i.i_price * o.pieces;
        INSERT INTO order_line VALUES
            (p_w, p_d, r_order, o.number, o.item, o.supply, NULL, o.pieces, i.i_price * o.pieces, s.info);
    END LOOP;
    IF missing IS NOT NULL THEN
        -- Undoes the transaction, and tells its output.
        RAISE EXCEPTION USING ERRCODE = 'OE001', MESSAGE = concat_ws('|', r_order, r_last, r_credit, missing);
    END IF;
    RETURN NEXT;
END $$;

CREATE FUNCTION customer_number(p_w int, p_d int, p_c int, p_last text) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    numbers int[];
BEGIN
    IF p_c <> 0 THEN
        RETURN p_c;
    END IF;
    SELECT array_agg(c_id ORDER BY c_first, c_id) INTO numbers FROM customer
        WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_last;
    RETURN numbers[(cardinality(numbers) + 1) / 2];
END $$;

CREATE FUNCTION payment(
    p_w int, p_d int, p_c_w int, p_c_d int, p_c int, p_last text, p_amount bigint, p_entry text, p_now timestamptz
) RETURNS TABLE (
    r_c int,
    r_first text, r_middle text, r_last text, r_balance bigint,
    r_street_1 text, r_street_2 text, r_city text, r_state text, r_zip text,
    r_phone text, r_since timestamptz, r_credit text, r_credit_lim bigint, r_discount int, r_data text,
    r_d_street_1 text, r_d_street_2 text, r_d_city text, r_d_state text, r_d_zip text,
    r_w_street_1 text, r_w_street_2 text, r_w_city text, r_w_state text, r_w_zip text
) LANGUAGE plpgsql AS $$
DECLARE
    district_name text;
    warehouse_name text;
BEGIN
    r_c := customer_number(p_c_w, p_c_d, p_c, p_last);
    UPDATE customer SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE c_credit WHEN 'BC' THEN left(r_c || p_entry || c_data, 500) ELSE c_data END
        WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = r_c
        RETURNING c_first, c_middle, c_last, c_balance, c_street_1, c_street_2, c_city, c_state, c_zip,
            c_phone, c_since, c_credit, c_credit_lim, c_discount, CASE c_credit WHEN 'BC' THEN c_data END
        INTO STRICT r_first, r_middle, r_last, r_balance, r_street_1, r_street_2, r_city, r_state, r_zip,
            r_phone, r_since, r_credit, r_credit_lim, r_discount, r_data;
    UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d
        RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip
        INTO STRICT district_name, r_d_street_1, r_d_street_2, r_d_city, r_d_state, r_d_zip;
    -- Written last: all terminals of the warehouse wait for it.
    UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w
        RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip
        INTO STRICT warehouse_name, r_w_street_1, r_w_street_2, r_w_city, r_w_state, r_w_zip;
    INSERT INTO history VALUES
        (p_c_w, p_c_d, r_c, p_w, p_d, p_now, p_amount, warehouse_name || '    ' || district_name);
    RETURN NEXT;
END $$;

-- Stable functions read all their rows as of one moment.
CREATE FUNCTION order_status(p_w int, p_d int, p_c int, p_last text) RETURNS TABLE (
    r_c int, r_first text, r_middle text, r_last text, r_balance bigint,
    r_order int, r_entered timestamptz, r_carrier int,
    r_items int[], r_supplies int[], r_pieces bigint[], r_amounts bigint[], r_delivered timestamptz[]
) LANGUAGE plpgsql STABLE AS $$
BEGIN
    r_c := customer_number(p_w, p_d, p_c, p_last);
    SELECT c_first, c_middle, c_last, c_balance INTO STRICT r_first, r_middle, r_last, r_balance
        FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = r_c;
    SELECT o_id, o_entry_d, o_carrier_id INTO r_order, r_entered, r_carrier FROM orders
        WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = r_c ORDER BY o_id DESC LIMIT 1;
    SELECT array_agg(ol_i_id ORDER BY ol_number), array_agg(ol_supply_w_id ORDER BY ol_number),
        array_agg(ol_quantity ORDER BY ol_number), array_agg(ol_amount ORDER BY ol_number),
        array_agg(ol_delivery_d ORDER BY ol_number)
        INTO r_items, r_supplies, r_pieces, r_amounts, r_delivered
        FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = r_order;
    RETURN NEXT;
END $$;

CREATE FUNCTION delivery(p_w int, p_carrier int, p_now timestamptz) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    orders_delivered int[] := array_fill(NULL::int, ARRAY[10]);
    o int;
    c int;
    amount bigint;
BEGIN
    FOR d IN 1..10 LOOP
        -- Another delivery may just have taken the only order that this one saw: it looks again.
        FOR attempt IN 1..2 LOOP
            SELECT no_o_id INTO o FROM new_order WHERE no_w_id = p_w AND no_d_id = d
                ORDER BY no_o_id LIMIT 1 FOR UPDATE;
            EXIT WHEN FOUND;
        END LOOP;
        CONTINUE WHEN o IS NULL;
        orders_delivered[d] := o;
        DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = d AND no_o_id = o;
        UPDATE orders SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = d AND o_id = o
            RETURNING o_c_id INTO STRICT c;
        WITH delivered AS (
            UPDATE order_line SET ol_delivery_d = p_now WHERE ol_w_id = p_w AND ol_d_id = d AND ol_o_id = o
                RETURNING ol_amount)
            SELECT sum(ol_amount) INTO amount FROM delivered;
        UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = p_w AND c_d_id = d AND c_id = c;
    END LOOP;
    RETURN orders_delivered;
END $$;

CREATE FUNCTION stock_level(p_w int, p_d int, p_threshold bigint, p_recent int) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    next_order int;
    low bigint;
BEGIN
    SELECT d_next_o_id INTO STRICT next_order FROM district WHERE d_w_id = p_w AND d_id = p_d;
    SELECT count(DISTINCT s_i_id) INTO low FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id BETWEEN next_order - p_recent AND next_order - 1
            AND s_quantity < p_threshold;
    RETURN low;
END $$;
