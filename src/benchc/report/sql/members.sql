-- What became of each sample of the pool.
SELECT   sample_id,
         benchmark,
         CASE WHEN kept AND control THEN 'selection_and_control'
              WHEN kept             THEN 'selection'
              WHEN control          THEN 'control'
              ELSE 'neither'
         END AS member
FROM     selection
JOIN     samples USING (sample_id)
ORDER BY sample_id
