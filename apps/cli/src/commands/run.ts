import { text } from 'node:stream/consumers';
import { AppError, type NewSession } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { connect } from '../connection.js';
import { followRun } from '../follow-run.js';
import { conclude } from '../outcome.js';
import { outputTo } from '../output.js';
import { ownSettings, type OwnSettings } from '../own-settings.js';
import { personAt } from '../person.js';
import { checkedFile, writeResult } from '../result-file.js';
import { applyPatch, checkedFolder, packWorkspace } from '../workspace.js';

export interface RunOptions extends OwnSettings {
  url?: string;
  data?: string;
  model?: string;
  workspace?: string;
  example?: string;
  image?: string;
  root?: boolean;
  title?: string;
  json?: boolean;
  quiet?: boolean;
  patch?: string;
  apply?: boolean;
  trust?: boolean;
  /** False is none; left out is all that are on. */
  mcp?: string[] | false;
}

/** `belay run`: one session from the task to the patch. Answers the exit code. */
export async function runSession(said: string | undefined, options: RunOptions): Promise<number> {
  const progress = outputTo(process.stderr);
  if (options.apply && !options.workspace)
    throw new AppError('invalid_input', 'Name the folder to change: --apply needs --workspace.');
  const task = said === '-' ? (await text(process.stdin)).trim() : said?.trim();
  if (!task && !options.example)
    throw new AppError('invalid_input', 'Say what to do: belay run "TASK", or belay run - < FILE.');
  const folder = options.workspace && (await checkedFolder(options.workspace));
  if (options.patch) await checkedFile(options.patch);
  const { client, live, url } = connect(options);
  try {
    const request = await newSession(client, task, options);
    if (folder) request.workspace = (await client.uploadWorkspace(packWorkspace(folder))).workspace;
    const { id } = await client.sessions.create(request);
    progress.line(progress.style('dim', `${url}/sessions/${id}`));
    const format = options.json ? 'json' : options.quiet ? 'quiet' : 'words';
    const outcome = await followRun({
      id,
      client,
      live,
      format,
      progress,
      person: personAt(process.stdin, progress),
      interrupt: 'stop',
    });
    const taken = Boolean(options.patch ?? options.apply);
    if (!outcome.needsPerson && taken)
      progress.line(await takePatch(client, id, { ...options, folder }));
    return await conclude(outcome, { id, client, url, progress, format, taken });
  } finally {
    live.close();
  }
}

async function newSession(
  client: BelayClient,
  task: string | undefined,
  options: RunOptions,
): Promise<NewSession> {
  const example = options.example && (await exampleNamed(client, options.example));
  const model = options.model ?? process.env.BELAY_MODEL ?? (example ? example.model : undefined);
  return {
    task: task ?? (example ? example.task : ''),
    model: model ?? (await onlyModel(client)),
    image: options.image ?? null,
    sandbox: options.root ? 'root' : 'hardened',
    workspace: example ? `example:${example.name}` : null,
    title: options.title ?? (example ? example.title : undefined),
    trust: options.trust ?? false,
    ...ownSettings(options),
    ...(options.mcp !== undefined && { mcp: options.mcp || [] }),
  };
}

async function exampleNamed(client: BelayClient, name: string) {
  const examples = await client.examples();
  const found = examples.find((example) => example.name === name);
  if (found) return found;
  const names = examples.map((example) => example.name).join(', ');
  throw new AppError('not_found', `There is no example ${name}; there are: ${names || 'none'}.`);
}

/** The first model that can be called, when none was named. */
async function onlyModel(client: BelayClient): Promise<string> {
  const ready = (await client.models()).find(
    (model) => model.ready && !/^(scripted|cassette):/.test(model.name),
  );
  if (ready) return ready.name;
  throw new AppError(
    'invalid_input',
    'Name a model with --model provider:model, or set a key such as OPENAI_API_KEY for the server.',
  );
}

/** Puts the changes where they are wanted; answers a sentence about it. */
async function takePatch(
  client: BelayClient,
  id: string,
  { patch: file, apply, folder }: RunOptions & { folder?: string },
): Promise<string> {
  const patch = await client.sessions.patch(id);
  if (file) await writeResult(file, patch);
  if (patch.length === 0) return 'No file was changed.';
  if (!apply || !folder) return `Wrote ${file}.`;
  try {
    await applyPatch(folder, patch);
    return `Applied to ${folder}.`;
  } catch (error) {
    const kept = file ?? `belay-${id}.patch`;
    if (!file) await writeResult(kept, patch);
    throw error instanceof AppError
      ? new AppError(error.code, `${error.message} It is kept in ${kept}.`)
      : error;
  }
}
