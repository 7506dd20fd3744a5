-- The protocol's definitions, stored inside the database: a user's query and the report share them.
-- p is a list with one probability per option; answer is the 0-based index of the right option.
-- Whatever is not a distribution (NULL, NaN, NULL inside, sum not 1) makes every score NULL.

CREATE MACRO is_distribution(p) AS
    coalesce(len(p) >= 2
             AND list_bool_and([x IS NOT NULL AND isfinite(CAST(x AS DOUBLE)) AND x >= 0 FOR x IN p])
             AND abs(list_sum(p) - 1) <= 1e-6,
             FALSE);
COMMENT ON MACRO is_distribution IS
    'whether p has 2 or more finite entries, none negative, that add to 1 within 1e-6';

CREATE MACRO confidence(p) AS
    CASE WHEN is_distribution(p) THEN CAST(list_max(p) AS DOUBLE) END;
COMMENT ON MACRO confidence IS 'the largest option probability, 0..1';

-- A tie is not correct: the right option has to hold the maximum alone.
CREATE MACRO is_correct(p, answer) AS
    CASE WHEN is_distribution(p)
         THEN CAST(p[answer + 1] = list_max(p) AND list_reverse_sort(p)[2] < list_max(p) AS INTEGER)
    END;
COMMENT ON MACRO is_correct IS
    '1 if the right option alone holds the maximum, else 0; a tie is not correct';

-- The largest logit is taken off first, so that no exponential overflows.
CREATE MACRO softmax(logits, temperature) AS
    list_transform([exp((x - list_max(logits)) / temperature) FOR x IN logits],
                   lambda mass: mass / list_sum([exp((x - list_max(logits)) / temperature)
                                                 FOR x IN logits]));
COMMENT ON MACRO softmax IS
    'the option probabilities of logits at a temperature; `predictions.p` at its own';

-- S = -sum p ln p / ln K, with 0 ln 0 = 0; rounding may leave 0..1 by an ulp, hence the clipping.
CREATE MACRO normalized_entropy(p) AS
    CASE WHEN is_distribution(p)
         THEN greatest(0.0, least(1.0, list_sum([CASE WHEN x > 0
                                                      THEN -CAST(x AS DOUBLE) * ln(CAST(x AS DOUBLE))
                                                      ELSE 0.0
                                                 END FOR x IN p]) / ln(len(p))))
    END;
COMMENT ON MACRO normalized_entropy IS
    'uncertainty S: Shannon entropy over the options divided by ln K, 0..1';

-- C = abs(confidence - correct)
CREATE MACRO misalignment(p, answer) AS
    abs(confidence(p) - is_correct(p, answer));
COMMENT ON MACRO misalignment IS
    'misalignment C: distance of confidence from correctness, 0..1; larger is worse';

-- The multi-class score: over K options it runs from 0 to 2.
CREATE MACRO brier(p, answer) AS
    CASE WHEN is_distribution(p)
         THEN list_sum([x * x FOR x IN p]) - 2 * p[answer + 1] + 1
    END;
COMMENT ON MACRO brier IS
    'Brier score: sum over the options of (p - [option is right])^2, 0..2; smaller is better';

-- A probability that underflowed to 0 counts as the smallest normal double, at most 708.4 nats.
CREATE MACRO negative_log_likelihood(p, answer) AS
    CASE WHEN is_distribution(p)
         THEN -ln(greatest(p[answer + 1], 2.2250738585072014e-308))
    END;
COMMENT ON MACRO negative_log_likelihood IS
    'minus the natural logarithm of the right option''s probability, nats';

-- A bin holds its lower edge; the last one also holds 1.
CREATE MACRO confidence_bin(confidence) AS
    CAST(least(floor(confidence * 15), 14) AS INTEGER) + 1;
COMMENT ON MACRO confidence_bin IS
    'which of 15 equal bins of 0..1 a confidence lies in, 1 to 15; the last bin is closed';

-- From the interval of a contrast: does it lie wholly on the side that a finding states?
CREATE MACRO verdict(low, high, expected) AS
    CASE WHEN CASE expected WHEN 'negative' THEN high < 0 WHEN 'positive' THEN low  > 0 END
         THEN 'agree'
         WHEN CASE expected WHEN 'negative' THEN low  > 0 WHEN 'positive' THEN high < 0 END
         THEN 'disagree'
         ELSE 'cannot tell'
    END;
COMMENT ON MACRO verdict IS
    'agree, disagree or cannot tell: whether an interval lies wholly on the expected side of 0';

-- [x]+; greatest(NULL, 0) is 0 and NaN exceeds every number, so both are turned into NULL.
CREATE MACRO positive_part(x) AS
    CASE WHEN isfinite(CAST(x AS DOUBLE)) THEN greatest(CAST(x AS DOUBLE), 0.0) END;
COMMENT ON MACRO positive_part IS 'x where x > 0, else 0; NULL for NULL and NaN';

-- RAS = -dC - [dC]+ [-dS]+ - [-dC]+ [dS]+ (the crossed form: bounds -2 and 1).
-- The first product is overconfident degradation, the second hesitant support.
CREATE MACRO ras(dc, ds) AS
    0.0 - dc
        - positive_part(dc)  * positive_part(-ds)
        - positive_part(-dc) * positive_part(ds);
COMMENT ON MACRO ras IS
    'Robustness Alignment Score of a misalignment shift dC and an uncertainty shift dS, -2..1';

CREATE MACRO clean_state(clean_correct) AS
    CASE clean_correct WHEN 1 THEN 'c' WHEN 0 THEN 'w' END;
COMMENT ON MACRO clean_state IS 'c (Q_c, right on the clean picture) or w (Q_w, wrong on it)';

CREATE MACRO state(clean_correct, correct) AS
    CASE clean_correct WHEN 1 THEN 'c' WHEN 0 THEN 'w' END
    || CASE correct WHEN 1 THEN 'c' WHEN 0 THEN 'w' END;
COMMENT ON MACRO state IS 'cc, cw, wc or ww: correctness on the clean, then the corrupted picture';

-- onset: first severity at which correctness differs from clean; unchanged: last at which it does not.
CREATE MACRO trajectory_class(clean_correct, onset, unchanged) AS
    CASE WHEN onset IS NULL THEN 'stable_'
         WHEN coalesce(unchanged, 0) < onset THEN 'persistent_'
         ELSE 'transient_'
    END
    || CASE WHEN onset IS NULL THEN CASE clean_correct WHEN 1 THEN 'correct' WHEN 0 THEN 'wrong' END
            ELSE CASE clean_correct WHEN 1 THEN 'loss' WHEN 0 THEN 'gain' END
       END;
COMMENT ON MACRO trajectory_class IS
    'stable_, persistent_ or transient_ with correct, wrong, loss or gain, of a complete trajectory';

CREATE MACRO silent_degradation(state, ras, tau) AS
    state = 'cc' AND ras < -tau;
COMMENT ON MACRO silent_degradation IS 'still right, yet RAS below -tau';

CREATE MACRO overconfident_degradation(dc, ds, tau) AS
    dc > tau AND ds < -tau;
COMMENT ON MACRO overconfident_degradation IS 'worse alignment (dC) with lower entropy (dS)';

CREATE MACRO hesitant_support(dc, ds, tau) AS
    dc < -tau AND ds > tau;
COMMENT ON MACRO hesitant_support IS 'better alignment (dC) with higher entropy (dS)';

CREATE MACRO lucky_guess(state, class) AS
    state = 'wc' AND class = 'transient_gain';
COMMENT ON MACRO lucky_guess IS 'wrong made right, in a trajectory that does not stay right';

CREATE MACRO unstable_gain(state, ras, tau) AS
    state = 'wc' AND ras < -tau;
COMMENT ON MACRO unstable_gain IS 'wrong made right, yet RAS below -tau';

-- Of a column `looks`. What was not measured is not held against a model.
CREATE MACRO is_blind(looks) AS
    coalesce(looks IN ('does not look', 'hardly looks'), FALSE);
COMMENT ON MACRO is_blind IS
    'whether a model answers (almost) alike whatever the picture: it gets no title';

-- The name of a grouping from the columns that are not rolled up (those are NULL).
CREATE MACRO crossing(benchmark, category, corruption_group, corruption, severity) AS
    coalesce(nullif(concat_ws('_by_',
        CASE WHEN category IS NOT NULL THEN 'category'
             WHEN benchmark IS NOT NULL THEN 'benchmark'
        END,
        CASE WHEN corruption IS NOT NULL THEN 'corruption'
             WHEN corruption_group IS NOT NULL THEN 'corruption_group'
        END,
        CASE WHEN severity IS NOT NULL THEN 'severity' END), ''), 'all');
COMMENT ON MACRO crossing IS
    'all, severity, corruption_group, corruption, benchmark, category, or two of them with _by_';
