-- Where in requests to its hosts a secret may go. Those that are there keep the places which their recorded requests show.
ALTER TABLE "secrets" ADD COLUMN "places" TEXT[] NOT NULL DEFAULT ARRAY['header']::TEXT[];

WITH requests AS (
  SELECT DISTINCT r.workspace_id, credential.name, e.data ->> 'path' AS path, e.data -> 'answer' ->> 'target' AS target
  FROM run_events e
  JOIN runs r ON r.id = e.run_id
  CROSS JOIN LATERAL json_array_elements_text(
    CASE json_typeof(e.data -> 'credentials') WHEN 'array' THEN e.data -> 'credentials' END
  ) AS credential (name)
  WHERE e.type = 'request'
    AND (e.data ->> 'path' LIKE '%gph\_%' OR strpos(e.data -> 'answer' ->> 'target', '{' || credential.name || '}') > 0)
), parameters AS (
  SELECT workspace_id, name, split_part(parameter, '=', 1) AS parameter
  FROM requests CROSS JOIN LATERAL regexp_split_to_table(split_part(target, '?', 2), '&') AS parameter
  WHERE strpos(split_part(parameter, '=', 2), '{' || name || '}') > 0 AND parameter ~ '^[][A-Za-z0-9_.-]{1,64}='
), used AS (
  SELECT workspace_id, name, 'path' AS place FROM requests
  WHERE path LIKE '%gph\_%' OR strpos(split_part(target, '?', 1), '{' || name || '}') > 0
  UNION
  SELECT workspace_id, name, 'query:' || parameter FROM parameters
)
UPDATE "secrets" s
SET "places" = s."places" || ARRAY(
  SELECT place FROM used WHERE used.workspace_id = s."workspace_id" AND used.name = s."name" ORDER BY place LIMIT 19
);
