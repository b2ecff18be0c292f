import { pluralText, numberText, bytesText } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { progressBar, singleLine, type LineOutput } from '../output.js';
import { StatusLine } from '../status-line.js';
import { secretsWarning } from './left-out.js';
import { packWorkspace, type Packed } from './pack-workspace.js';
import type { WorkspacePlan } from './plan-workspace.js';

/** The approximate overhead for each file in an archive: its header, and half a block at its end. */
const entryBytes = 768;

interface Sending {
  client: BelayClient;
  progress: LineOutput;
}

/**
 * Packs a planned workspace and sends it to the session that waits for it; shows progress, and what was left out.
 * Resolves when the sandbox has it. Rejects with the reason why the session could not start.
 */
export function sendWorkspace(
  plan: WorkspacePlan,
  { client, id, progress }: Sending & { id: string },
): Promise<void> {
  return withProgress(plan, progress, (archive) =>
    client.uploads.toSession(id, archive, { bytes: plan.bytes + plan.entries.length * entryBytes }),
  );
}

/** Sends the workspace to the server for several sessions; returns its name. */
export async function storeWorkspace(
  plan: WorkspacePlan,
  { client, progress }: Sending,
): Promise<string> {
  const { workspace } = await withProgress(plan, progress, (archive) =>
    client.uploads.workspace(archive),
  );
  return workspace;
}

async function withProgress<T>(
  plan: WorkspacePlan,
  progress: LineOutput,
  send: (archive: ReadableStream<Uint8Array>) => Promise<T>,
): Promise<T> {
  const isTerminal = process.stderr.isTTY && process.env.TERM !== 'dumb';
  const status = isTerminal ? new StatusLine(process.stderr) : undefined;
  const warning = secretsWarning(plan.secrets);
  if (warning) progress.line(singleLine(warning, Infinity));
  const begun = Date.now();
  if (!status) progress.line(`Copying ${sizeOf(plan)} into the sandbox.`);
  const show = (packed: Packed) => status?.show(copied(packed, plan), begun);
  try {
    return await send(packWorkspace(plan, show));
  } finally {
    status?.close();
    for (const sentence of plan.leftOut.sentences()) progress.line(singleLine(sentence, Infinity));
  }
}

/** A progress bar, followed by the numbers. */
export function copied(
  { files, bytes }: Packed,
  plan: Pick<WorkspacePlan, 'files' | 'bytes'>,
): string {
  const share = plan.bytes === 0 ? 1 : Math.min(1, bytes / plan.bytes);
  return `Copying ${progressBar(share)} ${bytesText(bytes)} of ${sizeOf(plan, files)}`;
}

function sizeOf({ files, bytes }: Pick<WorkspacePlan, 'files' | 'bytes'>, done?: number): string {
  const all = pluralText(files, 'file');
  return done === undefined
    ? `${all} (${bytesText(bytes)})`
    : `${bytesText(bytes)}, ${numberText(done)} of ${all}`;
}
