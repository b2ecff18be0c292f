import { z } from 'zod';
import { browserParsers } from './browser-parsers.js';
import { fromLines, Headings, indentOf, type LineReader } from '../parsed-lines.js';
import type { LogParser, TestResult, TestResults } from '../test-log.js';

/** Jest's line for each file. The times after the file's name are cut off. */
const jestFile: LineReader = (line) => {
  const [, word, rest = ''] = /^(PASS|FAIL)\s(.*)$/.exec(line) ?? [];
  if (!word) return undefined;
  const times = [...rest.matchAll(/\s\([\d.]{1,12}(?:ms|\ss|s)\)/g)];
  return [rest.slice(0, times.at(-1)?.index ?? rest.length), word === 'PASS' ? 'PASSED' : 'FAILED'];
};
const jestFiles: LogParser = (log) => fromLines(log, jestFile);

/** Times in minutes remain in the name, as in SWE-Bench's data. */
const grommet: LogParser = (log) =>
  fromLines(log, (line) => {
    const [, word, rest = ''] = /^(PASS|FAIL)\s(.*)$/.exec(line) ?? [];
    const name = rest.trim().replace(/\s\([\d.]{1,12}\s?(?:ms|s)\)$/, '');
    return word ? [name, word === 'PASS' ? 'PASSED' : 'FAILED'] : undefined;
  });

/** Without a heading, the separator remains in the name, as in SWE-Bench. */
const calypsoName = (headings: string[], name: string) =>
  `${headings.join(' - ')} - ${name.replace(/\(\d{1,9}ms\)$/, '')}`.trim();

/** Jest's verbose report, once for each file that `set -x` shows it was called with. */
const calypso: LogParser = (log) => {
  const tests = new Map<string, TestResult>();
  const headings = new Headings();
  for (const run of log.split(' ./node_modules/.bin/jest ').slice(1))
    for (const line of run.split('\n')) {
      if (line.startsWith('Test Suites') || line.startsWith('  ● ')) break;
      const [, mark, name = ''] = /^\s+([✓✕])\s(.*)$/.exec(line) ?? [];
      if (mark) tests.set(calypsoName(headings.names, name), mark === '✓' ? 'PASSED' : 'FAILED');
      else if (indentOf(line) > 0) headings.add(line);
    }
  return Object.fromEntries(tests);
};

const marked: LogParser = (log) =>
  fromLines(log, (line) => {
    const [, name] = /^\d{1,9}\)\s(.*)/.exec(line) ?? [];
    return name === undefined ? undefined : [name.trim(), 'FAILED'];
  });

/** Mocha's JSON reports, one for each command. */
const prism: LogParser = (log) => {
  const tests = new Map<string, TestResult>();
  for (const text of jsonReports(log)) {
    const { passes, failures } = mochaReport(text);
    for (const { fullTitle } of failures) tests.set(fullTitle, 'FAILED');
    for (const { fullTitle } of passes) tests.set(fullTitle, 'PASSED');
  }
  return Object.fromEntries(tests);
};

/**
 * From a line `{` to the next one that begins with `}`, which may continue with the shell's output.
 */
function* jsonReports(log: string): Generator<string> {
  let open: string[] | undefined;
  for (const line of log.split('\n')) {
    if (line === '{') open = ['{'];
    else if (open && line.startsWith('}')) {
      yield [...open, '}'].join('\n');
      open = undefined;
    } else open?.push(line);
  }
}

const titles = z.array(z.object({ fullTitle: z.string() })).default([]);
const mocha = z.object({ passes: titles, failures: titles });

/** Text that only looks like a report has no tests. */
function mochaReport(text: string): z.infer<typeof mocha> {
  try {
    return mocha.parse(JSON.parse(text));
  } catch {
    return { passes: [], failures: [] };
  }
}

/** Mocha’s tree; names contain only the nearest heading. */
const highlight: LogParser = (log) => {
  const tests = new Map<string, TestResult>();
  let heading: string | undefined;
  for (const line of log.split('\n')) {
    if (/^[ \t]*\d{1,9} passing/.test(line)) break;
    const [, mark, name = ''] = /^\s*([✓✔]|\d{1,9}\))(.*)$/.exec(line) ?? [];
    if (mark) {
      const test = name.replaceAll(/\(\d{1,9}ms\)/g, '').trim();
      const full = [...(heading === undefined ? [] : [heading]), test].join('.');
      tests.set(full, /^\d/.test(mark) ? 'FAILED' : 'PASSED');
    } else if (line.startsWith('  ')) heading = line.trim();
  }
  return Object.fromEntries(tests);
};

/**
 * ESLint’s mocha prints only failures: a name may span lines, and ends before the first line with
 * the word Error. If that is its own first line, it is empty.
 */
const eslint: LogParser = (log) => {
  const tests = new Map<string, TestResult>();
  let open: string[] | undefined;
  for (const line of log.split('\n')) {
    const [, rest] = (!open && /^\s+\d{1,9}\)(.*)$/.exec(line)) || [];
    if (rest !== undefined) open = [];
    const text = rest ?? line;
    if (open && text.includes('Error')) {
      tests.set(open.join(' ').replace(/\s+/g, ' ').trim(), 'FAILED');
      open = undefined;
    } else open?.push(text);
  }
  return Object.fromEntries(tests);
};

/**
 * Before 3.0, Mocha's JSON, whose names stay escaped; from 3.0 on, Jest; from 9.5 on, Mocha's tree.
 */
const lighthouse: LogParser = (log, origin) => {
  if (['9.5', '10.0', '10.2'].includes(origin.version)) return lighthouseTree(log);
  return Number.parseFloat(origin.version) >= 3 ? jestFiles(log, origin) : lighthouseJson(log);
};

/** A title that both fails and passes in one report has failed; a later report replaces it. */
function lighthouseJson(log: string): TestResults {
  let list: string | undefined;
  let failed = new Set<string>();
  return fromLines(log, (line) => {
    if (line === '{') failed = new Set();
    list = /^ {2}"(\w{1,20})": \[/.exec(line)?.[1] ?? list;
    const [, title] = /^\s+"fullTitle": "(.*)",$/.exec(line) ?? [];
    if (title === undefined || (list !== 'passes' && list !== 'failures')) return undefined;
    if (list === 'failures') failed.add(title);
    return [title, failed.has(title) ? 'FAILED' : 'PASSED'];
  });
}

/**
 * The first heading of each run is part of no name: SWE-Bench strips whitespace from both ends of a
 * run, and thus the heading's indent.
 */
function lighthouseTree(log: string): TestResults {
  let headings: Headings | undefined;
  let begun = false;
  return fromLines(log, (given) => {
    const [start] = /running\s\d{1,9}\stest\sfiles/.exec(given) ?? [];
    if (start) [headings, begun] = [new Headings(), false];
    else if (/\d{1,9}\spassing/.test(given)) headings = undefined;
    const rest = start ? given.slice(given.indexOf(start) + start.length) : given;
    if (!headings || !rest.trim()) return undefined;
    const line = begun ? rest : rest.trim();
    begun = true;
    const [, mark, name = ''] = /^(✔|\d{1,9}\))\s(.*)$/.exec(line.trim()) ?? [];
    if (mark) {
      const times = [...name.matchAll(/\s\(\d{1,9}m{1,3}s\)/g)];
      const test = name.slice(0, times.at(-1)?.index ?? name.length);
      return [headings.of(test), mark === '✔' ? 'PASSED' : 'FAILED'];
    }
    if (indentOf(line) > 0) headings.add(line);
    return undefined;
  });
}

/**
 * Deno’s coloured results after the name of a test; temporary files are numbered in order of
 * appearance.
 */
const quarto: LogParser = (log) => {
  const temporary = new Map<string, number>();
  const known = new Set<string>();
  const lines = log.split('\n');
  const end = lines.findIndex((line) => /ERRORS|failures:/.test(line));
  const read: LineReader = (given) => {
    if (!/\[(?:smoke|unit)\]/.test(given)) return undefined;
    const line = numbered(given, temporary);
    const name = line.split('...', 1)[0]?.trim() ?? '';
    const summary = ['passed', 'failed', 'steps'].every((word) => line.includes(word));
    if (line.startsWith('test result:') || line.includes('34mINFO') || summary) return undefined;
    const said = line.includes('32mok') ? 'PASSED' : line.includes('31mFAILED') ? 'FAILED' : null;
    // A test without a result has failed.
    if (!said && known.has(name)) return undefined;
    known.add(name);
    return [name, said ?? 'FAILED'];
  };
  return fromLines(lines.slice(0, end < 0 ? undefined : end).join('\n'), read);
};

function numbered(given: string, temporary: Map<string, number>): string {
  let line = given;
  for (const file of [/\/tmp\/\w{1,200}\.qmd/g, /\/tmp\/\w{1,200}\//g]) {
    const [found] = line.match(file) ?? [];
    if (!found) continue;
    if (!temporary.has(found)) temporary.set(found, temporary.size);
    line = line.replace(file, `/tmp/${temporary.get(found)}`);
  }
  return line;
}

export const javascriptParsers = {
  ...browserParsers,
  calypso,
  eslint,
  grommet,
  highlight,
  jestFiles,
  lighthouse,
  marked,
  prism,
  quarto,
} satisfies Record<string, LogParser>;
