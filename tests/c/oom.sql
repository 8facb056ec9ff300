--@ setup
PRAGMA journal_mode = off;
CREATE TABLE messages(id INTEGER PRIMARY KEY, content, thought);
INSERT INTO messages VALUES
  (1, 'The cache is fixed.', 'Perhaps the lock is held by the cache.'),
  (2, NULL, 'Stale lock, so a retry loop.'),
  (3, 'Retry the build, naïvely running twice.', NULL),
  (4, 12, x'6c6f636b'),
  (5, 'lock ' || 'one two three two one two lock lock', '["Ein \u00c4rger, ein lock", "cache"]');
CREATE VIEW seen AS
  SELECT id AS rowid, content, CASE WHEN thought LIKE '[%' THEN
    (SELECT group_concat(value, char(10)) FROM json_each(thought)) ELSE thought END AS thought,
    thought AS raw FROM messages;
CREATE VIEW listed AS SELECT id AS rowid FROM messages WHERE coalesce(content, thought) IS NOT NULL;
CREATE VIRTUAL TABLE notes USING fts5(content, thought);
INSERT INTO notes(rowid, content, thought) SELECT id, content, thought FROM messages;
CREATE VIRTUAL TABLE stems USING fts5(content, thought, tokenize=porter, detail=none);
INSERT INTO stems(rowid, content, thought) SELECT id, content, thought FROM messages;
CREATE VIRTUAL TABLE bare USING fts5(content, thought, content='', columnsize=0);
INSERT INTO bare(rowid, content, thought) SELECT id, content, thought FROM messages;

--@ case match a word
SELECT id, reasoning_match('lock', thought) FROM messages;
--@ case match a phrase
SELECT id FROM messages WHERE reasoning_match('"lock is held" + by', thought);
--@ case match a prefix
SELECT id FROM messages WHERE reasoning_match('loc* NOT sta*', thought);
--@ case match NEAR
SELECT id FROM messages WHERE reasoning_match('NEAR(one "two three" lock, 4)', content);
--@ case match NOT, OR, AND
SELECT id FROM messages WHERE reasoning_match('(cache OR retry) NOT (stale AND loop) OR ^lock', thought);
--@ case match a long phrase
SELECT reasoning_match('"a b c d e f g h i j k l"', 'z a b c d e f g h i j k l');
--@ case match a long word
SELECT reasoning_match('"' || hex(zeroblob(3000)) || '" + ' || hex(zeroblob(2000)), 'a text');
--@ case match a long text
SELECT reasoning_match('one AND absent', replace(hex(zeroblob(3000)), '00', 'one two '));
--@ case match many words
SELECT reasoning_match(group_concat('w' || value, ' OR '), 'a w77 b')
FROM json_each('[' || substr(replace(hex(zeroblob(99)), '00', ',7'), 2) || ']');
--@ case match what changes
SELECT id, reasoning_match('"' || coalesce(content, 'lock') || '"', thought) FROM messages;
--@ case match characters
SELECT reasoning_match('naive ÄRGER*', 'Naïve é ſtraße ' || char(0x301) || ' Ärgerlich'),
       reasoning_match('日本', '日本 語'), reasoning_match('"é" + "日*"', 'É 日');
--@ case match a column filter
SELECT id FROM messages
WHERE reasoning_match_columns('content, thought', '{content thought} : cache AND - content : lock',
                              content, thought);
--@ case match many columns
SELECT reasoning_match_columns('a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r', 'r : x OR -{a b} : y',
                               1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,'y','x');
--@ case match with porter
SELECT id FROM messages
WHERE reasoning_match_columns('content, thought, tokenize="porter unicode61 remove_diacritics 2"',
                              'runs OR retries', content, thought);
--@ case match with trigram
SELECT id FROM messages
WHERE reasoning_match_columns('content, thought, tokenize=''trigram case_sensitive 1''',
                              '"ock is" OR content : "uil"', content, thought);
--@ case match with arguments
SELECT reasoning_match_columns(
  'text, tokenize="unicode61 tokenchars ''-_é'' separators ''xü'' categories ''L* N* Co''"',
  '"a-b" + c', 'a-bxc');
--@ case match with ascii
SELECT reasoning_match_columns('text, tokenize=ascii, prefix=''2 3''', 'caf* AND "É"', 'cafés É');
--@ case match numbers and blobs
SELECT reasoning_match('12', 12), reasoning_match(7, 3.7), reasoning_match('lock', x'6c6f636b'),
       reasoning_match('"3"', 3.25), reasoning_match('x', NULL);
--@ case an error of the query
SELECT reasoning_match('one AND (two', 'one');
--@ case an unknown column
SELECT reasoning_match_columns('a, b', '{a zebra} : x', 'x', 'x');
--@ case an unterminated string
SELECT reasoning_match('"one', 'one');
--@ case a command
SELECT reasoning_match('*rebuild', 'one');
--@ case a NULL query
SELECT reasoning_match(NULL, 'one');
--@ case a bad spec
SELECT reasoning_match_columns('a, detail=none', 'x', 'x');
--@ case an unknown tokenizer
SELECT reasoning_match_columns('a, tokenize=''unheard of''', 'x', 'x');
--@ case a bad argument of a tokenizer
SELECT reasoning_match_columns('a, tokenize=''unicode61 remove_diacritics 7''', 'x', 'x');
--@ case a wrong number of values
SELECT reasoning_match_columns('a, b', 'x', 'x');
--@ case parse
SELECT reasoning_parse('content, thought',
                       'thought : (lock OR "retry ""loop"*) NOT NEAR(a b, 3) AND ^c + d');
--@ case parse with trigram
SELECT reasoning_parse('a, tokenize=trigram', '"abcdefghijklmnop" OR b');
--@ case parse nothing
SELECT reasoning_parse('a', '""'), reasoning_parse('a UNINDEXED, b', 'a : x');
--@ case parse an error
SELECT reasoning_parse('a', 'NEAR(a b, c)');
--@ case scan a table
SELECT rowid, origin FROM reasoning_scan('lock OR cache', 'messages', 'content, thought', '1');
--@ case scan without origins
SELECT rowid FROM reasoning_scan('lock', 'main.messages', 'content, thought');
--@ case scan a view
SELECT rowid, origin FROM reasoning_scan('arger OR "held by"', 'seen', 'content, thought', '1');
--@ case scan by rowid
SELECT rowid FROM reasoning_scan('lock', 'messages', 'content, thought', '1')
WHERE rowid BETWEEN 2 AND 4 ORDER BY rowid DESC LIMIT 1;
--@ case scan one row
SELECT origin FROM reasoning_scan('cache', 'messages', 'content, thought', '-0') WHERE rowid = 5;
--@ case scan a list
SELECT rowid, origin
FROM reasoning_scan('arger OR lock', 'seen', 'content UNINDEXED, thought', '1', 'raw', '[5, 1, 9]');
--@ case scan ranges
SELECT rowid FROM reasoning_scan('lock', 'messages', 'thought', '0', NULL, '[ [1, 2], [4, 9]]') WHERE rowid > 1;
--@ case scan what is no list
SELECT rowid FROM reasoning_scan('lock', 'messages', 'thought', '0', NULL, '[1');
--@ case scan a list for ranks
SELECT rank FROM reasoning_scan('lock', 'messages', 'thought', '0', NULL, '[1]');
--@ case scan for ranks
SELECT rowid, round(rank, 6), origin
FROM reasoning_scan('lock OR cache', 'messages', 'content, thought', '1') ORDER BY rank LIMIT 3;
--@ warm
SELECT rowid, rank FROM reasoning_scan('one', 'messages', 'content, thought');
--@ case scan for ranks, warm
SELECT rowid, round(rank, 6)
FROM reasoning_scan('lock NOT loop', 'messages', 'content, thought') ORDER BY rank DESC LIMIT 2 OFFSET 1;
--@ case scan a view for ranks
SELECT rowid, round(rank, 6) FROM reasoning_scan('two', 'seen', 'content, thought, tokenize=porter')
ORDER BY rowid;
--@ case scan stored text
SELECT rowid, origin
FROM reasoning_scan('arger OR lock', 'seen', 'content UNINDEXED, thought', '1', 'raw');
--@ case scan stored text for ranks
SELECT rowid, round(rank, 6)
FROM reasoning_scan('lock', 'seen', 'content, thought', '1', 'content, raw', 'listed') ORDER BY rank;
--@ warm
SELECT rank FROM reasoning_scan('one', 'seen', 'content UNINDEXED, thought', '1', 'raw', 'listed');
--@ case scan stored text, warm
SELECT rowid, round(rank, 6)
FROM reasoning_scan('lock OR cache', 'seen', 'content UNINDEXED, thought', '1', 'raw', 'listed')
ORDER BY rank;
--@ case scan in a join
SELECT m.id, s.origin FROM (SELECT 'lock' AS q UNION ALL SELECT 'cache') AS asked,
  reasoning_scan(asked.q, 'messages', 'content, thought', '1') AS s JOIN messages AS m ON m.id = s.rowid;
--@ case scan shows its arguments
SELECT query, source, spec, thought_columns
FROM reasoning_scan('loop', '"main"."messages"', 'content, thought', 1);
--@ case scan no such source
SELECT rowid FROM reasoning_scan('x', 'nowhere.nothing', 'content');
--@ case scan no such column
SELECT rowid FROM reasoning_scan('x', 'messages', 'content, missing');
--@ case scan a view without rowid
SELECT rowid FROM reasoning_scan('x', 'sqlite_schema', 'name');
--@ case scan a bad query
SELECT rowid FROM reasoning_scan('x AND', 'messages', 'content');
--@ case scan bad columns
SELECT rowid FROM reasoning_scan('x', 'messages', 'content', '0 7');
--@ case scan without arguments
SELECT rowid FROM reasoning_scan('x');
--@ case rank within a column
SELECT rowid, round(reasoning_bm25(notes, '0'), 6) FROM notes('retry OR cache') ORDER BY rowid;
--@ case rank within all, weighted
SELECT rowid, round(reasoning_bm25(notes, '0 1', 2.0, 0.5), 6) FROM notes('lock') ORDER BY 2;
--@ case rank as the order
SELECT rowid FROM notes('lock') WHERE rank MATCH 'reasoning_bm25(''-0'')' ORDER BY rank;
--@ case rank with several sets
SELECT round(reasoning_bm25(notes, '0'), 6), round(reasoning_bm25(notes, '1'), 6),
       round(reasoning_bm25_rows(notes, '1', 300), 6) FROM notes('cache');
--@ case rank in a table without positions
SELECT rowid, round(reasoning_bm25(stems, '1'), 6) FROM stems('retri* OR running');
--@ case origins
SELECT rowid, reasoning_origin(notes, '1') FROM notes('cache OR lock OR retry');
--@ case counts and tokens
SELECT rowid, hex(reasoning_counts(notes, '1')), reasoning_tokens(notes, '0 1') FROM notes('lock');
--@ case an unknown set
SELECT reasoning_bm25(notes, '7') FROM notes('lock');
--@ case too many weights
SELECT reasoning_bm25(notes, '0', 1, 2) FROM notes('lock');
--@ case too few rows
SELECT reasoning_bm25_rows(notes, '1', 2) FROM notes('lock');
--@ case a table without sizes
SELECT reasoning_bm25(bare, '0') FROM bare('lock');
--@ case what is loaded
SELECT reasoning_version() LIKE '%.%', reasoning_debug() LIKE '{"version":%}';
--@ case counts of a row
SELECT id, hex(reasoning_counts_columns('content, thought', '"the lock" OR NEAR(one two, 3)', content, thought)) FROM messages;
--@ case counts of too few columns
SELECT reasoning_counts_columns('content, thought', 'a', 'a');
--@ case snippet of a text
SELECT id, reasoning_snippet_text('"the lock" OR cache', thought, '[', ']', '...', 4) FROM messages;
--@ case snippet of a row
SELECT id, reasoning_snippet_columns('content, thought', 'lock NOT stale', '[', ']', '...', 4, content, thought) FROM messages;
--@ case snippet of a table
SELECT reasoning_snippet(notes, '1', '[', ']', '...', 4) FROM notes('lock OR one');
--@ case snippet of a bad query
SELECT reasoning_snippet_text('"the lock', 'a', '[', ']', '...', 4);
--@ case snippet of a row without a query
SELECT reasoning_snippet_columns('content', NULL, '[', ']', '...', 4, 'a');
--@ case snippet of too few columns
SELECT reasoning_snippet_columns('content, thought', 'a', '[', ']', '...', 4, 'a');
--@ case snippet of a table without a query
SELECT reasoning_snippet(notes, '-0', '[', ']', '...', 4) FROM notes;
