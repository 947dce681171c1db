-- The parser of PostgreSQL takes more than the square of the length for some texts: 120 KB of '<!--' (each may begin a comment
-- that goes on to the end), and long runs without a space (each hyphen and dot may begin a word, a host, a path). So comments
-- never begin, and runs have a hundred characters at most.
CREATE FUNCTION "skill_text"(body TEXT) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN regexp_replace(replace(body, '<!--', '< !--'), '(\S{100})(?=\S)', '\1 ', 'g');

-- As before, of that text. Title, tags and description are short. Rows that are there were indexed in time and stay.
CREATE OR REPLACE FUNCTION "skill_search"(title TEXT, tags TEXT[], description TEXT, body TEXT) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN setweight(to_tsvector('english', title), 'A')
        || setweight(to_tsvector('english', array_to_string(tags, ' ')), 'B')
        || setweight(to_tsvector('english', description), 'C')
        || setweight(to_tsvector('english', skill_text(left(body, 200000))), 'D');
