import { userIdentity } from '@belay/host';
import { AppError, sentWorkspace, type NewSession } from '@belay/protocol';
import { checkedFile, writeResult } from '../result-file.js';
import { conclude } from '../outcome.js';
import { followRun } from '../follow-run.js';
import { givenText } from '../given-text.js';
import { openConnection, type Connection, type PrintOptions } from '../connection.js';
import { outputTo, type LineOutput } from '../output.js';
import { terminalUser } from '../terminal-user.js';
import { appliedSentence } from '../workspace/outward-links.js';
import { applyPatch } from '../workspace/apply-patch.js';
import { checkedFolder, planWorkspace, type WorkspacePlan } from '../workspace/plan-workspace.js';
import { sendWorkspace, storeWorkspace } from '../workspace/send-workspace.js';
import { runComparison } from './run-comparison.js';
import { sessionRequest, type SessionRequestOptions } from './session-request.js';
import { unwritableMounts } from './unwritable-mounts.js';

export interface RunSessionOptions extends PrintOptions, SessionRequestOptions {
  runs?: number;
  workspace?: string;
  quiet?: boolean;
  patch?: string;
  apply?: boolean;
}

/** `belay run`: one session from the task to the patch, or several to compare. Returns the exit code. */
export async function runSession(
  given: string | undefined,
  options: RunSessionOptions,
): Promise<number> {
  assertOptionsFit(options);
  const task = given === undefined ? '' : await givenText(given);
  if (!task && !options.example && !options.template)
    throw new AppError(
      'invalid_input',
      'There is no task. Use: belay run "TASK", or: belay run - < FILE',
    );
  const folder = options.workspace && (await checkedFolder(options.workspace));
  if (options.patch) await checkedFile(options.patch);
  const connection = openConnection(options);
  try {
    const progress = outputTo(process.stderr);
    const request = await sessionRequest(connection.client, task, options);
    for (const sentence of await unwritableMounts(request.mounts ?? []))
      progress.line(progress.style('yellow', `⚠ ${sentence}`));
    const plan = folder ? await planWorkspace(folder) : undefined;
    if (folder) {
      request.workspace = sentWorkspace;
      request.gitIdentity = await userIdentity(folder);
    }
    const run = { ...connection, progress, options, plan };
    return await (compares(options) ? compareSessions(request, run) : runOne(request, run));
  } finally {
    connection.live.close();
  }
}

const compares = ({ agents, models, runs = 1 }: RunSessionOptions): boolean =>
  (agents ?? models) !== undefined || runs > 1;

function assertOptionsFit(options: RunSessionOptions): void {
  const { apply, branch, clone, commit, depth, patch, workspace } = options;
  if (apply && !workspace) refuse('--apply needs --workspace. Name the folder to change.');
  if (!clone && (branch ?? commit ?? depth) !== undefined)
    refuse('--branch, --commit and --depth need --clone. Name the repository.');
  assertFitsAgent(options);
  if (compares(options) && (patch ?? apply))
    refuse(
      '--patch and --apply are for one session. Choose one at the end, with: belay patch SESSION --apply .',
    );
}

function assertFitsAgent(options: RunSessionOptions): void {
  const { agent, agentProtocol, smallModel, login, model } = options;
  if (agent === undefined && (smallModel ?? agentProtocol ?? login) !== undefined)
    refuse('--small-model, --agent-protocol and --login need --agent. Name the agent.');
  if (login && compares(options))
    refuse(
      '--login is for one session, because only one may use a sign-in at a time. Leave out --agents, --models and --runs.',
    );
  if (login && (model ?? smallModel) !== undefined)
    refuse(
      '--login needs no model: you choose it in the agent. Leave out --model and --small-model.',
    );
}

function refuse(sentence: string): never {
  throw new AppError('invalid_input', sentence);
}

interface PlannedRun extends Connection {
  progress: LineOutput;
  options: RunSessionOptions;
  plan: WorkspacePlan | undefined;
}

async function compareSessions(
  { model, ...request }: NewSession,
  { options, plan, ...run }: PlannedRun,
): Promise<number> {
  if (plan) request.workspace = await storeWorkspace(plan, run);
  const { agents, models = [model], runs = 1, json = false } = options;
  const compared = agents ? { agents: agents.map((one) => ({ model, ...one })) } : { models };
  return runComparison({ ...request, ...compared, runs }, { ...run, json });
}

async function runOne(request: NewSession, run: PlannedRun): Promise<number> {
  const { client, live, url, progress, options, plan } = run;
  const { id, machine, agent } = await client.sessions.create(request);
  progress.line(progress.style('dim', `${url}/sessions/${id}`));
  if (machine?.kind === 'bare')
    progress.line(
      progress.style(
        'yellow',
        `⚠ Runs on the machine ${machine.name} itself: nothing is confined.`,
      ),
    );
  if (agent?.login !== undefined)
    progress.line(
      progress.style(
        'yellow',
        '⚠ Sign in in the terminal of the agent, in the dashboard. The sandbox then holds your credential, and Belay sees, counts and holds nothing of what the agent sends.',
      ),
    );
  if (machine?.kind === 'container')
    progress.line(progress.style('dim', `Runs in a container on ${machine.name}.`));
  if (plan) await sendWorkspace(plan, { client, id, progress });
  const format = options.json ? 'json' : options.quiet ? 'quiet' : 'words';
  const user = terminalUser(process.stdin, progress);
  const outcome = await followRun({ id, client, live, format, progress, user, interrupt: 'stop' });
  const taken = Boolean(options.patch ?? options.apply);
  if (!outcome.needsUser && outcome.modelError === undefined && taken)
    progress.line(await takePatch(id, run));
  return conclude(outcome, { id, client, url, progress, format, taken });
}

/** Writes or applies the changes; returns a sentence about the result. */
async function takePatch(id: string, { client, options, plan }: PlannedRun): Promise<string> {
  const { patch: file, apply } = options;
  const patch = await client.sessions.patch(id);
  if (file) await writeResult(file, patch);
  if (patch.length === 0) return 'No file was changed.';
  if (!apply || !plan) return `Wrote ${file}.`;
  try {
    return appliedSentence(plan.folder, await applyPatch(plan.folder, patch));
  } catch (error) {
    const saved = file ?? `belay-${id}.patch`;
    if (!file) await writeResult(saved, patch);
    throw error instanceof AppError
      ? new AppError(error.code, `${error.message} The patch is in ${saved}.`)
      : error;
  }
}
