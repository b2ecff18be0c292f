import { startTransition, useEffect, useReducer } from 'react';
import { startHighlighter } from '@/features/changes/start-highlighter';
import type { DiffLine } from './diff';
import {
  syntaxLanguage,
  type Highlighted,
  type HighlightReply,
  type HighlightRequest,
  type Runs,
} from './syntax';

export type Colours = ReadonlyMap<DiffLine, Runs>;

/** Larger hunks, and hunks with longer lines, are not highlighted; both in characters. */
const mostCharacters = 300_000;
const longestLine = 2_000;
/** Hunks that take longer to highlight remain without colours. */
const timeoutMs = 3_000;
/** With more waiting, the oldest request is dropped; rendering its hunk again repeats it. */
const mostWaiting = 30;
/** Hunks that are rendered for a shorter time, as in fast scrolling, are not highlighted. */
const settledMs = 80;

const found = new WeakMap<readonly DiffLine[], Colours>();

/** The colours of these consecutive lines; undefined until they are highlighted. */
export function useColours(path: string, lines: readonly DiffLine[]): Colours | undefined {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const language = syntaxLanguage(path);
    if (!language || found.has(lines)) return;
    let drawn = true;
    const settled = setTimeout(() => {
      void coloursOf(language, lines).then(() => drawn && startTransition(redraw));
    }, settledMs);
    return () => {
      drawn = false;
      clearTimeout(settled);
    };
  }, [path, lines]);
  return found.get(lines);
}

async function coloursOf(language: string, lines: readonly DiffLine[]): Promise<void> {
  const before = lines.filter(({ kind }) => kind !== '+');
  const after = lines.filter(({ kind }) => kind !== '-');
  const texts = [before, after].map((side) => side.map(({ text }) => text).join('\n'));
  const size = texts.reduce((sum, { length }) => sum + length, 0);
  const isLong = size > mostCharacters || lines.some(({ text }) => text.length > longestLine);
  const highlighted = isLong ? [] : await ask({ language, texts });
  if (!highlighted) return;
  const colours = new Map<DiffLine, Runs>();
  for (const [side, of] of [before, after].entries()) {
    const { starts, runs } = highlighted[side] ?? nothing;
    of.forEach((line, index) => colours.set(line, runs.subarray(starts[index], starts[index + 1])));
  }
  found.set(lines, colours);
}

const nothing: Highlighted = { starts: new Uint32Array(), runs: new Uint32Array() };

interface Job extends Omit<HighlightRequest, 'id'> {
  /** Null if the request was dropped. */
  done(texts: Highlighted[] | null): void;
}

const waiting: Job[] = [];
let busy = false;
let worker: Worker | null | undefined;
let serial = 0;

function ask(request: Omit<HighlightRequest, 'id'>): Promise<Highlighted[] | null> {
  return new Promise((done) => {
    waiting.push({ ...request, done });
    if (waiting.length > mostWaiting) waiting.shift()?.done(null);
    if (!busy) void work();
  });
}

/**
 * Processes one request at a time: a worker that hangs is terminated, and only the hunk that caused
 * it has no colours.
 */
async function work(): Promise<void> {
  busy = true;
  for (let job = waiting.pop(); job; job = waiting.pop()) {
    if (worker === undefined) worker = startHighlighter();
    job.done(worker ? await askWorker(worker, job) : []);
  }
  busy = false;
}

function askWorker(asked: Worker, { language, texts }: Job): Promise<Highlighted[]> {
  serial += 1;
  const id = serial;
  return new Promise((done) => {
    const answered = new AbortController();
    const end = (reply: Highlighted[]) => {
      answered.abort();
      clearTimeout(timeout);
      done(reply);
    };
    const giveUp = () => {
      asked.terminate();
      worker = undefined;
      end([]);
    };
    const timeout = setTimeout(giveUp, timeoutMs);
    const { signal } = answered;
    const onMessage = ({ data }: MessageEvent<HighlightReply>) => data.id === id && end(data.texts);
    asked.addEventListener('message', onMessage, { signal });
    asked.addEventListener('error', giveUp, { signal });
    const request: HighlightRequest = { id, language, texts };
    asked.postMessage(request);
  });
}
