import { statSync } from 'node:fs';
import { errorFrom } from '@belay/protocol';
import { unreadable } from '../lines.js';
import { suiteNamed, suites } from './index.js';
import { lineFormat } from './line-format.js';
import { readLines } from './reading.js';

/** What a file or folder contains: the tasks of a suite, or why no suite reads it. */
interface DataDescription {
  suite: string | null;
  tasks: number;
  problem: string | null;
}

/** Other files are not read, because they can have any size. */
const dataFiles = /\.jsonl?(\.gz)?$/i;

/** Finds the suite that reads a file or folder, by reading it. Throws `invalid_input` for a path that cannot be read. */
export function describeData(path: string): DataDescription {
  if (isFile(path) && !dataFiles.test(path))
    return undescribed('It is neither a folder nor a .jsonl or .json file.');
  const known = suiteOfFirstLine(path);
  if (known !== null) return described(known, path);
  // What several suites read belongs to the one that understands most of it.
  const [best] = suites
    .map(({ name }) => described(name, path))
    .filter(({ suite }) => suite !== null)
    .toSorted((a, b) => a.broken - b.broken);
  if (best) return best;
  return undescribed('No suite reads it: docs/evaluation.md lists the formats.');
}

function described(suite: string, path: string): DataDescription & { broken: number } {
  try {
    const tasks = suiteNamed(suite).read(path);
    const broken = tasks.filter((task) => task.broken).length;
    return { suite, tasks: tasks.length, problem: null, broken };
  } catch (error) {
    return { ...undescribed(errorFrom(error).message), broken: 0 };
  }
}

/** Null for a folder, and for lines that leave a doubt. */
function suiteOfFirstLine(path: string): string | null {
  try {
    const [line] = readLines(path);
    return lineFormat(line)?.suite ?? null;
  } catch {
    return null;
  }
}

const undescribed = (problem: string): DataDescription => ({ suite: null, tasks: 0, problem });

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    throw unreadable(path, error);
  }
}
