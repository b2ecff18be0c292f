import {
  maxCompared,
  ownAgent,
  mountIn,
  usualPlanFile,
  type AgentProtocol,
  type NewComparison,
  type NewSession,
} from '@belay/protocol';
import { changeOf, type DefaultTexts } from '@/components/session-defaults/default-texts';
import type { Attachment } from '@/features/chat/composer/use-attachments';
import { splitList } from '@/lib/split-list';
import { chosenFiles, type ChosenFolder } from './chosen-folder';
import type { TarFile } from './pack-tar';

/** An agent that works on the same tasks; its name is empty for Belay’s own. */
export interface OtherAgent {
  agent: string;
  model: string;
}

/** The values of the form, with texts as typed. */
export interface SessionForm {
  tasks: readonly string[];
  models: readonly string[];
  /** The name of an agent; empty for Belay’s own. */
  agent: string;
  /** How the agent is driven; empty for its best way. */
  protocol: AgentProtocol | '';
  /** The agent’s model for small tasks; empty for the session’s. */
  small: string;
  /** Whether the user signs in to the agent, which then calls no model of the server. */
  login: boolean;
  /** Further agents, which are compared with this one. */
  others: readonly OtherAgent[];
  /** For every task. */
  pictures: readonly Attachment[];
  workspace:
    | { kind: 'empty' }
    | { kind: 'example'; name: string }
    | { kind: 'folder'; folder: ChosenFolder | null }
    | { kind: 'repository'; url: string; branch: string; commit: string };
  image: string;
  /** Settings that differ from the server’s. */
  own: Partial<DefaultTexts>;
  /** Undefined for all that are enabled. */
  mcp?: string[] | undefined;
  /** Undefined for all that are enabled. */
  actions?: string[] | undefined;
  /** A shell command that the server runs at the end; empty for none. */
  check: string;
  /** How many sessions each model gets. */
  runs: number;
  /** A joined machine; null for a sandbox. */
  machine: string | null;
  /** Host folders, one per line, such as `/srv/data:ro`. */
  mounts: string;
  tags: string;
  root: boolean;
  trust: boolean;
  modelForPrograms: boolean;
  /** Whether the plan is kept in the workspace, in `planFile`. */
  keepsPlan: boolean;
  planFile: string;
}

export const emptyForm: SessionForm = {
  tasks: [''],
  models: [],
  agent: '',
  protocol: '',
  small: '',
  login: false,
  others: [],
  pictures: [],
  workspace: { kind: 'empty' },
  image: '',
  own: {},
  check: '',
  runs: 1,
  machine: null,
  mounts: '',
  tags: '',
  root: false,
  trust: false,
  modelForPrograms: false,
  keepsPlan: false,
  planFile: usualPlanFile,
};

/** What of the form was uploaded before the sessions start. */
export interface Uploaded {
  /** The workspace’s name; null for none. */
  workspace: string | null;
  /** The ids of the pictures. */
  images?: string[];
}

/** What works on each task: the agent with each of the models, and the other agents. */
const competitorsIn = ({ models, others, ...form }: SessionForm) => [
  ...models.map((model) => ({ ...(form.agent && { agent: agentOf(form) }), model })),
  ...others.map(({ agent: name, model }) => ({ ...(name && { agent: { name } }), model })),
];

/** The sessions to start: one for each task, and each model or other agent. */
export function newSessionsOf(
  form: SessionForm,
  { workspace, images = [] }: Uploaded,
): NewSession[] {
  const tasks = form.tasks.map((task) => task.trim()).filter(Boolean);
  return tasks.flatMap((task) =>
    competitorsIn(form).map((competitor): NewSession => ({
      task,
      ...competitor,
      image: form.image.trim() || null,
      ...(form.root && { sandbox: 'root' as const }),
      ...(form.machine !== null && { machine: form.machine }),
      workspace,
      ...(images.length > 0 && { images }),
      ...repositoryOf(form.workspace),
      ...changeOf(form.own),
      ...(form.mcp && { mcp: form.mcp }),
      ...(form.actions && { actions: form.actions }),
      ...(form.mounts.trim() && { mounts: mountsOf(form.mounts) }),
      ...(form.check.trim() && { check: form.check.trim() }),
      trust: form.trust,
      ...(form.modelForPrograms && { modelForPrograms: true }),
      ...(form.keepsPlan && { planFile: form.planFile.trim() || usualPlanFile }),
      tags: splitList(form.tags),
    })),
  );
}

/** One task with 2 to `maxCompared` sessions is a comparison; otherwise undefined. */
export function comparisonOf(form: SessionForm, uploaded: Uploaded): NewComparison | undefined {
  const tasks = form.tasks.filter((task) => task.trim());
  const competitors = competitorsIn(form);
  const count = competitors.length * form.runs;
  const [first] = newSessionsOf(form, uploaded);
  if (!first || tasks.length !== 1 || count < 2 || count > maxCompared) return undefined;
  const { model: _, ...same } = first;
  if (form.others.length === 0) return { ...same, models: [...form.models], runs: form.runs };
  const { agent: _agent, ...common } = same;
  const agents = competitors.map(({ agent = { name: ownAgent }, model }) => ({ ...agent, model }));
  return { ...common, agents, runs: form.runs };
}

/** How many runs of each there can be in one comparison; only one session may use a sign-in. */
export const mostRuns = ({
  models,
  others,
  login,
}: Pick<SessionForm, 'models' | 'others' | 'login'>): number =>
  login ? 1 : Math.max(1, Math.floor(maxCompared / Math.max(1, models.length + others.length)));

const agentOf = ({
  agent,
  protocol,
  small,
  login,
}: Pick<SessionForm, 'agent' | 'protocol' | 'small' | 'login'>) =>
  login
    ? { name: agent, login }
    : {
        name: agent,
        ...(protocol && { protocol }),
        ...(small.trim() && { small: small.trim() }),
      };

const mountsOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map(mountIn);

function repositoryOf(workspace: SessionForm['workspace']): Pick<NewSession, 'repository'> {
  if (workspace.kind !== 'repository') return {};
  const [url = '', branch, commit] = [workspace.url, workspace.branch, workspace.commit].map(
    (text) => text.trim(),
  );
  return { repository: { url, ...(branch && { branch }), ...(commit && { commit }) } };
}

/** Why the form cannot be submitted yet; undefined if it can. */
export function missingIn({ models, others, workspace }: SessionForm): string | undefined {
  if (models.length === 0) return 'Choose a model first. Scripted models only replay their script.';
  if (others.some(({ model }) => !model)) return 'Choose a model for each agent first.';
  if (workspace.kind === 'folder' && !workspace.folder) return 'Choose a folder first.';
  return undefined;
}

/** The workspace’s name, unless a folder is to be uploaded; null for none. */
export function workspaceOf({ workspace }: SessionForm): string | null {
  return workspace.kind === 'example' ? `example:${workspace.name}` : null;
}

/** The paths that the workspace will have, as far as they are known before it exists. */
export const knownPaths = (workspace: SessionForm['workspace']): string[] =>
  workspace.kind === 'folder' && workspace.folder
    ? chosenFiles(workspace.folder).map(({ path }) => path)
    : [];

/** The files of the chosen folder that are sent; undefined if none is chosen. */
export function sentFiles({ workspace }: SessionForm): TarFile[] | undefined {
  if (workspace.kind !== 'folder' || !workspace.folder) return undefined;
  return [...chosenFiles(workspace.folder), ...workspace.folder.plan.history];
}
