import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  AppError,
  mountIn,
  sentWorkspace,
  usualPlanFile,
  type NewMount,
  type NewSession,
  type SessionDefaultsChange,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { userIdentity } from '@belay/host';
import { openConnection } from '../connection.js';
import { followRun } from '../follow-run.js';
import { conclude } from '../outcome.js';
import { outputTo } from '../output.js';
import { ownSettings, type OwnSettings } from '../own-settings.js';
import { terminalUser } from '../terminal-user.js';
import { checkedFile, writeResult } from '../result-file.js';
import { applyPatch } from '../workspace/apply-patch.js';
import { checkedFolder, planWorkspace, type WorkspacePlan } from '../workspace/plan-workspace.js';
import { sendWorkspace, uploadWorkspace } from '../workspace/send-workspace.js';
import { runComparison } from './run-comparison.js';
import { templateNamed } from './templates.js';

export interface RunOptions extends OwnSettings {
  url?: string;
  data?: string;
  model?: string;
  models?: string[];
  runs?: number;
  check?: string;
  template?: string;
  workspace?: string;
  clone?: string;
  branch?: string;
  depth?: number;
  example?: string;
  image?: string;
  root?: boolean;
  machine?: string;
  mount?: string[];
  title?: string;
  planFile?: string | true;
  json?: boolean;
  quiet?: boolean;
  patch?: string;
  apply?: boolean;
  trust?: boolean;
  /** False for none; all that are enabled by default. */
  mcp?: string[] | false;
  actions?: string[] | false;
}

/** `belay run`: one session from the task to the patch. Returns the exit code. */
export async function runSession(given: string | undefined, options: RunOptions): Promise<number> {
  const progress = outputTo(process.stderr);
  if (options.apply && !options.workspace)
    throw new AppError('invalid_input', '--apply needs --workspace. Name the folder to change.');
  if (!options.clone && (options.branch ?? options.depth) !== undefined)
    throw new AppError('invalid_input', '--branch and --depth need --clone. Name the repository.');
  const compares = options.models !== undefined || (options.runs ?? 1) > 1;
  if (compares && (options.patch ?? options.apply))
    throw new AppError(
      'invalid_input',
      '--patch and --apply are for one session. Choose one at the end, with: belay patch SESSION --apply .',
    );
  const task = given === '-' ? (await text(process.stdin)).trim() : given?.trim();
  if (!task && !options.example && !options.template)
    throw new AppError(
      'invalid_input',
      'There is no task. Use: belay run "TASK", or: belay run - < FILE',
    );
  const folder = options.workspace && (await checkedFolder(options.workspace));
  if (options.patch) await checkedFile(options.patch);
  const { client, live, url } = openConnection(options);
  try {
    const request = await newSession(client, task, options);
    const plan = folder && (await planned(folder));
    if (plan) request.workspace = sentWorkspace;
    if (folder) request.gitIdentity = await userIdentity(folder);
    if (compares) {
      const { model, ...common } = request;
      if (plan) common.workspace = await uploadWorkspace(plan, { client, progress });
      const models = options.models ?? [model];
      const run = { client, live, url, progress, json: options.json ?? false };
      return await runComparison({ ...common, models, runs: options.runs ?? 1 }, run);
    }
    const { id, machine } = await client.sessions.create(request);
    progress.line(progress.style('dim', `${url}/sessions/${id}`));
    if (machine?.kind === 'bare')
      progress.line(
        progress.style(
          'yellow',
          `⚠ Runs on the machine ${machine.name} itself: nothing is confined.`,
        ),
      );
    if (machine?.kind === 'container')
      progress.line(progress.style('dim', `Runs in a container on ${machine.name}.`));
    if (plan) await sendWorkspace(plan, { client, id, progress });
    const format = options.json ? 'json' : options.quiet ? 'quiet' : 'words';
    const outcome = await followRun({
      id,
      client,
      live,
      format,
      progress,
      user: terminalUser(process.stdin, progress),
      interrupt: 'stop',
    });
    const taken = Boolean(options.patch ?? options.apply);
    if (!outcome.needsUser && taken)
      progress.line(await takePatch(client, id, { ...options, folder }));
    return await conclude(outcome, { id, client, url, progress, format, taken });
  } finally {
    live.close();
  }
}

function planned(folder: string): Promise<WorkspacePlan> {
  const megabytes = Number(process.env.BELAY_MAX_WORKSPACE_MB) || 2048;
  return planWorkspace(folder, megabytes * 1024 * 1024);
}

async function newSession(
  client: BelayClient,
  task: string | undefined,
  options: RunOptions,
): Promise<NewSession> {
  const example = options.example && (await exampleNamed(client, options.example));
  const template = options.template ? await templateNamed(client, options.template) : undefined;
  const model =
    options.models?.[0] ??
    options.model ??
    template?.model ??
    process.env.BELAY_MODEL ??
    (example ? example.model : undefined);
  const check = options.check ?? template?.check;
  const tasks = [template?.task, task].filter(Boolean).join('\n\n');
  return {
    task: tasks || (example ? example.task : ''),
    model: model ?? (await onlyModel(client)),
    ...(check && { check }),
    image: options.image ?? null,
    sandbox: options.root ? 'root' : 'hardened',
    machine: options.machine ?? null,
    mounts: mountsOf(options.mount),
    ...(options.clone && {
      repository: {
        url: options.clone,
        ...(options.branch && { branch: options.branch }),
        ...(options.depth && { depth: options.depth }),
      },
    }),
    workspace: example ? `example:${example.name}` : null,
    title: options.title ?? (example ? example.title : undefined),
    trust: options.trust ?? false,
    ...(options.planFile && {
      planFile: options.planFile === true ? usualPlanFile : options.planFile,
    }),
    ...settingsOf(template, options),
    ...(options.mcp !== undefined && { mcp: options.mcp || [] }),
    ...(options.actions !== undefined && { actions: options.actions || [] }),
  };
}

/** What the options say counts before the template. */
function settingsOf(
  { approvals, budgets, egress }: SessionDefaultsChange = {},
  options: OwnSettings,
): SessionDefaultsChange {
  const own = ownSettings(options);
  return {
    ...(approvals && { approvals }),
    ...own,
    budgets: { ...budgets, ...own.budgets },
    egress: { ...egress, ...own.egress },
  };
}

/** Of the server’s machine; a relative one is below the current folder, as on the same machine. */
const mountsOf = (given: readonly string[] = []): NewMount[] =>
  given.map(mountIn).map(({ folder, readOnly }) => ({ folder: resolve(folder), readOnly }));

async function exampleNamed(client: BelayClient, name: string) {
  const examples = await client.server.examples();
  const found = examples.find((example) => example.name === name);
  if (found) return found;
  const names = examples.map((example) => example.name).join(', ');
  throw new AppError(
    'not_found',
    `There is no example ${name}. Choose one of: ${names || '(none)'}.`,
  );
}

/** The first model that is ready, when none was named. */
async function onlyModel(client: BelayClient): Promise<string> {
  const ready = (await client.models.list()).find(
    (model) => model.ready && !/^(scripted|cassette):/.test(model.name),
  );
  if (ready) return ready.name;
  throw new AppError(
    'invalid_input',
    'No model is ready. Name one with --model provider:model, or set a key such as OPENAI_API_KEY for the server.',
  );
}

/** Writes or applies the changes; returns a sentence about it. */
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
    const saved = file ?? `belay-${id}.patch`;
    if (!file) await writeResult(saved, patch);
    throw error instanceof AppError
      ? new AppError(error.code, `${error.message} The patch is in ${saved}.`)
      : error;
  }
}
