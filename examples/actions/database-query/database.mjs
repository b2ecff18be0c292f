// The service that the manifest declares: SQLite over HTTP, in a container next to the call’s. The
// database is in memory, so each call starts with a new one.
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';

const database = new DatabaseSync(':memory:');
database.exec(`
  CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author TEXT, year INTEGER, pages INTEGER);
  CREATE TABLE loans (id INTEGER PRIMARY KEY, book INTEGER REFERENCES books, reader TEXT, day TEXT);
  INSERT INTO books (title, author, year, pages) VALUES
    ('Notes on the Analytical Engine', 'Ada Lovelace', 1843, 66),
    ('The Mythical Man-Month', 'Frederick Brooks', 1975, 322),
    ('Structure and Interpretation', 'Abelson and Sussman', 1985, 657),
    ('The Art of Unix Programming', 'Eric Raymond', 2003, 560);
  INSERT INTO loans (book, reader, day) VALUES (1, 'Grace', '2026-01-07'), (3, 'Alan', '2026-02-11');
`);

function answer(body) {
  const { setup, query } = JSON.parse(body);
  if (setup) database.exec(setup);
  const rows = database.prepare(query).all();
  return JSON.stringify(rows.slice(0, 1_000), null, 2);
}

createServer((request, response) => {
  text(request)
    .then((body) => response.end(answer(body)))
    .catch((error) => response.writeHead(400).end(String(error.message)));
}).listen(5480, '127.0.0.1');
