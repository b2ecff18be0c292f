import { AppError, publishRequest, type PublishedChange } from '@belay/protocol';
import { z } from 'zod';
import { OutgoingStore, type OutgoingRow } from './outgoing.store.js';
import type { PublishedRun } from './published-run.js';

type Request = z.output<typeof publishRequest>;

/** To open a pull request, once its branch is pushed. */
const mostTries = 5;

/** The row of a push: what is pushed, and then what came of it. */
const pushContent = z.object({
  request: publishRequest.nullable(),
  /** How many files it changes. */
  files: z.int().nonnegative(),
  result: z.custom<PublishedRun>().nullable(),
});

export interface PushRow {
  row: OutgoingRow;
  request: Request | null;
  files: number;
  result: PublishedRun | null;
}

export async function pushRowOf(store: OutgoingStore, run: string): Promise<PushRow | null> {
  const row = (await store.of(run)).find(({ kind }) => kind === 'push');
  return row ? { row, ...pushContent.parse(JSON.parse(row.content)) } : null;
}

/** Stored before anything is sent. */
export async function planPush(
  store: OutgoingStore,
  run: string,
  { request, files }: { request: Request; files: number },
): Promise<PushRow> {
  const planContent = { request, files, result: null };
  const content = JSON.stringify(planContent);
  const known = await pushRowOf(store, run);
  if (known) await store.change(known.row, { content, state: 'planned', why: null });
  else {
    const target = `branch:${request.branch}`;
    await store.plan(run, [{ kind: 'push', target, n: 0, content: planContent }]);
  }
  const planned = await pushRowOf(store, run);
  if (!planned) throw new Error('The row of a push was not stored.');
  return planned;
}

/**
 * Notes what arrived, and the pull request as a row of its own. Throws `unavailable` while it is worth the while to open
 * that again.
 */
export async function notePush(
  store: OutgoingStore,
  { row, request, files }: PushRow,
  { result, change }: { result: PublishedRun; change: PublishedChange },
): Promise<void> {
  const { commit, branchPage: url } = change;
  if (request?.pullRequest) await notePull(store, row, change);
  const content = JSON.stringify({ request, files, result });
  await store.change(row, { state: 'sent', remote_id: commit, url, content });
}

async function notePull(
  store: OutgoingStore,
  { run, target }: OutgoingRow,
  { branch, pullRequest, problem }: PublishedChange,
): Promise<void> {
  const content = { branch, number: pullRequest?.number ?? null };
  await store.plan(run, [{ kind: 'pull', target, n: 0, content }]);
  const row = (await store.of(run)).find(({ kind }) => kind === 'pull');
  if (!row) throw new Error('The row of a pull request was not stored.');
  const tries = row.tries + 1;
  const change = { content: JSON.stringify(content), why: problem, tries };
  if (pullRequest) {
    const { number, url } = pullRequest;
    await store.change(row, { ...change, state: 'sent', remote_id: String(number), url });
    return;
  }
  const isLast = tries >= mostTries;
  await store.change(row, { ...change, state: isLast ? 'given-up' : 'planned' });
  if (!isLast) throw new AppError('unavailable', problem ?? 'No pull request was opened.');
}

/** What is not pushed at all. */
export async function refusePush(
  store: OutgoingStore,
  run: string,
  { branch, why, result }: { branch: string; why: string; result: PublishedRun | null },
): Promise<void> {
  const content = { request: null, files: result?.changedFiles ?? 0, result };
  const target = `branch:${branch}`;
  await store.plan(run, [{ kind: 'push', target, n: 0, content, refused: why }]);
  const known = await pushRowOf(store, run);
  const change = { state: 'refused', why, content: JSON.stringify(content) } as const;
  if (known) await store.change(known.row, change);
}
