import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUtf8 } from 'node:buffer';
import { trialFolder } from '../results/journal.js';
import type { Trial } from '../model.js';
import { loadArtifacts } from '../run.js';

/** The limit of each text that is sent to the board; the results folder has the full texts. */
const mostBytes = 256 * 1024;
const mostBytesOfFile = 32 * 1024;

/** The artifacts and the test output of a trial; null when there are none. */
export interface TrialTexts {
  answer: string | null;
  log: string | null;
}

/** Reads the artifacts and the test output of each step from the results folder. */
export function trialTexts(out: string, trial: Pick<Trial, 'task' | 'attempt'>): TrialTexts {
  const folder = trialFolder(out, trial);
  if (!existsSync(folder)) return { answer: null, log: null };
  const steps = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const joined = (of: (step: string) => string | null) => {
    const parts = steps.map((step) => ({ step, text: of(join(folder, step)) }));
    const there = parts.filter(({ text }) => text !== null);
    if (there.length === 0) return null;
    if (there.length === 1) return there[0]?.text ?? null;
    return there.map(({ step, text }) => `── ${step} ──\n${text}`).join('\n');
  };
  return { answer: head(joined(answerOf)), log: tail(joined(logOf)) };
}

/** The patch, or else the files in sequence. */
function answerOf(step: string): string | null {
  if (!existsSync(join(step, 'artifacts.json'))) return null;
  const { patch, entries, removed } = loadArtifacts(step);
  if (patch) return patch.toString();
  const files = entries
    .filter(({ kind }) => kind !== 'folder')
    .map(({ path, kind, bytes, target }) =>
      kind === 'link' ? `${path} → ${target}\n` : `${path}\n${contentOf(bytes)}`,
    );
  return [...files, ...removed.map((path) => `${path} was removed\n`)].join('\n') || null;
}

function contentOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) return `(${bytes.length} bytes of binary data)\n`;
  const text = bytes.subarray(0, mostBytesOfFile).toString();
  return bytes.length > mostBytesOfFile ? `${text}\n… ${bytes.length} bytes in total\n` : text;
}

function logOf(step: string): string | null {
  const path = join(step, 'test-output.txt');
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

const head = (text: string | null) =>
  text === null || text.length <= mostBytes
    ? text
    : `${text.slice(0, mostBytes)}\n… see the results folder for the rest\n`;

/** The end of a log matters most. */
const tail = (text: string | null) =>
  text === null || text.length <= mostBytes
    ? text
    : `See the results folder for the beginning …\n${text.slice(-mostBytes)}`;
