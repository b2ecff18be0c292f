import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  AppError,
  neededSecrets,
  pluralText,
  type ActionInstall,
  type ActionOffer,
  type FoundActions,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { confirmed } from '../confirmed.js';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo, singleLine, type LineOutput } from '../output.js';
import { packActions } from '../workspace/pack-actions.js';
import { sourceText, tellMissing } from './actions.js';

type Options = PrintOptions & { yes?: boolean };

/** `belay actions install`; resolves to the exit code. */
export async function installActions(
  source: string,
  names: readonly string[],
  options: Options,
): Promise<number> {
  const client = clientFor(options);
  const found = await find(client, source);
  return install(client, found, { ...options, names: names.length > 0 ? [...names] : undefined });
}

/** `belay actions update`: each source is looked up once for all its actions. */
export async function updateActions(names: readonly string[], options: Options): Promise<number> {
  const client = clientFor(options);
  const installed = await client.actions.list();
  const unknown = names.find((name) => !installed.some((one) => one.name === name));
  if (unknown !== undefined)
    throw new AppError('not_found', `There is no action ${unknown}. See: belay actions list`);
  const chosen = installed.filter(({ name }) => names.length === 0 || names.includes(name));
  const sources = Map.groupBy(chosen, ({ source: { from, version } }) =>
    version === null ? from : `${from}@${version}`,
  );
  let code = 0;
  for (const [source, actions] of sources) {
    const found = await find(client, source);
    const wanted = actions.map(({ name }) => name);
    const known = found.actions.filter(({ name }) => wanted.includes(name));
    const gone = wanted.filter((name) => !known.some((one) => one.name === name));
    for (const name of gone)
      outputTo(process.stderr).line(
        `${source} no longer has the action ${name}; the installed one stays as it is.`,
      );
    const named = { ...found, actions: known, faults: [] };
    if (known.length > 0)
      code = Math.max(code, await install(client, named, { ...options, names: undefined }));
  }
  return code;
}

/** A folder of this machine is read here and sent, because the server does not read its own folders. */
async function find(client: BelayClient, source: string): Promise<FoundActions> {
  if (isFolder(source)) {
    const folder = resolve(source);
    return client.actions.upload(packActions(folder), { from: folder });
  }
  if (source.startsWith('file:'))
    throw new AppError('invalid_input', 'Name a folder of this machine by its path alone.');
  const [folder = source, named] = source.split('@', 2);
  if (named !== undefined && /^[./~]/.test(source) && isFolder(folder))
    throw new AppError(
      'invalid_input',
      `A folder has no versions: leave out @${named}, or install from a repository.`,
    );
  if (/^[./~]/.test(source))
    throw new AppError('not_found', `There is no folder ${source} on this machine.`);
  const [, from = source, version] = /^(.*[^@/][^@]*)@([^@:]+)$/.exec(source) ?? [];
  return client.actions.find({ from, version: version ?? null });
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

async function install(
  client: BelayClient,
  found: FoundActions,
  { names, ...options }: Options & { names: string[] | undefined },
): Promise<number> {
  const progress = outputTo(process.stderr);
  for (const { fault } of found.faults)
    progress.line(progress.style('yellow', singleLine(fault, Infinity)));
  const wanted = wantedOf(found, names);
  for (const offer of wanted) show(offer, found, progress);
  const changed = wanted.filter(({ state }) => state !== 'same');
  if (changed.length === 0) {
    if (options.json) outputTo(process.stdout).json({ actions: [] });
    return found.actions.length > 0 ? 0 : 1;
  }
  const withoutTerminal = 'An update needs confirmation: run it at a terminal, or use --yes.';
  const question = options.yes ? null : questionAbout(changed, process.stdin.isTTY);
  if (question !== null && !(await confirmed(question, withoutTerminal))) {
    progress.line('Nothing was changed.');
    return 1;
  }
  const job = await client.actions.install({
    found: found.id,
    names: changed.map(({ name }) => name),
  });
  const ended = await follow(client, job, progress);
  if (options.json) outputTo(process.stdout).json(ended);
  const allWork = await report(client, ended, options.json ? progress : outputTo(process.stdout));
  return ended.state === 'done' && allWork ? 0 : 1;
}

/** The named actions of a source, or all. Throws `not_found`. */
function wantedOf({ from, actions }: FoundActions, names: readonly string[] | undefined) {
  const missing = names?.find((name) => !actions.some((one) => one.name === name));
  if (missing === undefined) return actions.filter(({ name }) => !names || names.includes(name));
  const there = actions.map(({ name }) => name).toSorted();
  throw new AppError(
    'not_found',
    `${from} has no action ${missing}; it has: ${there.join(', ') || 'none'}.`,
  );
}

/**
 * What the user is asked before an install; null for nothing. An update is never installed without an answer, a new
 * action only where nobody can be asked.
 */
export function questionAbout(
  changed: readonly Pick<ActionOffer, 'state'>[],
  isTerminal: boolean,
): string | null {
  if (changed.some(({ state }) => state === 'other')) return 'Install these updates?';
  return isTerminal ? `Install ${pluralText(changed.length, 'action')}?` : null;
}

function show(offer: ActionOffer, found: FoundActions, output: LineOutput): void {
  const { name, manifest, state, changes, warnings, folder } = offer;
  const from = sourceText({ ...found, folder });
  const what = { new: 'is new', other: 'is another version', same: 'is up to date' }[state];
  const described = singleLine(`${manifest.description_for_human} (${from})`, Infinity);
  output.line(`${output.style('bold', name)} ${what}: ${described}`);
  const each = (
    texts: readonly string[],
    style: 'yellow' | 'red' | 'green',
    mark: string,
  ): void => {
    for (const text of texts) output.line(output.style(style, mark + singleLine(text, Infinity)));
  };
  each(warnings, 'yellow', '  ');
  if (state === 'same') return;
  each(changes.removed, 'red', '  - ');
  each(changes.added, 'green', '  + ');
  if (changes.added.length + changes.removed.length === 0)
    output.line('  Its permissions do not change.');
}

/** Ctrl-C ends only this program: the install continues on the server. */
async function follow(
  client: BelayClient,
  begun: ActionInstall,
  output: LineOutput,
): Promise<ActionInstall> {
  let job = begun;
  for (;;) {
    for (const line of job.lines) output.line(line);
    if (job.state !== 'running') return job;
    job = await client.actions.progress(job.id, { after: job.next, wait: 20 });
  }
}

/** Whether everything that was installed works, apart from secrets that are still missing. */
async function report(
  client: BelayClient,
  { actions }: ActionInstall,
  output: LineOutput,
): Promise<boolean> {
  let allWork = true;
  for (const { name, state, error } of actions) {
    if (state !== 'done') {
      output.line(`${name} was not installed: ${singleLine(error ?? 'it was stopped.', Infinity)}`);
      continue;
    }
    const action = await client.actions.read(name);
    output.line(`Installed ${name}.`);
    tellMissing(action, output);
    if (action.error === null || neededSecrets(action).length > 0) continue;
    allWork = false;
    output.line(output.style('red', `It does not work yet: ${singleLine(action.error, Infinity)}`));
  }
  return allWork;
}
