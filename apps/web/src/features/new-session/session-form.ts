import {
  maxCompared,
  mountIn,
  usualPlanFile,
  type NewComparison,
  type NewSession,
} from '@belay/protocol';
import { changeOf, type DefaultTexts } from '@/components/session-defaults/default-texts';
import { client } from '@/lib/server';
import { splitList } from '@/lib/split-list';
import { packTar, type TarEntry } from './pack-tar';

/** The values of the form, with texts as typed. */
export interface SessionForm {
  tasks: readonly string[];
  models: readonly string[];
  workspace:
    | { kind: 'empty' }
    | { kind: 'example'; name: string }
    | { kind: 'folder'; files: File[] }
    | { kind: 'repository'; url: string; branch: string };
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
  /** Whether the plan is kept in the workspace, in `planFile`. */
  keepsPlan: boolean;
  planFile: string;
}

export const emptyForm: SessionForm = {
  tasks: [''],
  models: [],
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
  keepsPlan: false,
  planFile: usualPlanFile,
};

/** The sessions to start: one for each task and model. */
export function newSessionsOf(form: SessionForm, workspace: string | null): NewSession[] {
  const tasks = form.tasks.map((task) => task.trim()).filter(Boolean);
  return tasks.flatMap((task) =>
    form.models.map((model): NewSession => ({
      task,
      model,
      image: form.image.trim() || null,
      sandbox: form.root ? 'root' : 'hardened',
      ...(form.machine !== null && { machine: form.machine }),
      workspace,
      ...repositoryOf(form.workspace),
      ...changeOf(form.own),
      ...(form.mcp && { mcp: form.mcp }),
      ...(form.actions && { actions: form.actions }),
      ...(form.mounts.trim() && { mounts: mountsOf(form.mounts) }),
      ...(form.check.trim() && { check: form.check.trim() }),
      trust: form.trust,
      ...(form.keepsPlan && { planFile: form.planFile.trim() || usualPlanFile }),
      tags: splitList(form.tags),
    })),
  );
}

/** One task with 2 to `maxCompared` sessions is a comparison; otherwise undefined. */
export function comparisonOf(
  form: SessionForm,
  workspace: string | null,
): NewComparison | undefined {
  const tasks = form.tasks.filter((task) => task.trim());
  const count = form.models.length * form.runs;
  const [first] = newSessionsOf(form, workspace);
  if (!first || tasks.length !== 1 || count < 2 || count > maxCompared) return undefined;
  const { model: _, ...common } = first;
  return { ...common, models: [...form.models], runs: form.runs };
}

const mountsOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map(mountIn);

function repositoryOf(workspace: SessionForm['workspace']): Pick<NewSession, 'repository'> {
  if (workspace.kind !== 'repository') return {};
  const branch = workspace.branch.trim();
  return { repository: { url: workspace.url.trim(), ...(branch && { branch }) } };
}

/** Returns the workspace’s name; null for none. Uploads the folder first, if one is chosen. */
export async function workspaceFor({ workspace }: SessionForm): Promise<string | null> {
  if (workspace.kind === 'empty' || workspace.kind === 'repository') return null;
  if (workspace.kind === 'example') return `example:${workspace.name}`;
  return (await client.uploads.workspace(await archiveOf(workspace.files))).workspace;
}

/** The folder as an archive in memory, since browsers cannot send streams over HTTP/1.1. */
export const archiveOf = async (files: readonly File[]): Promise<Uint8Array> =>
  new Uint8Array(await new Response(packTar(tarEntriesOf(files))).arrayBuffer());

const skipped = /(^|\/)(node_modules|\.venv|__pycache__|\.DS_Store)(\/|$)/;

/** The files of a folder, with paths relative to it, without installed packages and caches. */
export function tarEntriesOf(files: readonly File[]): TarEntry[] {
  return files
    .map((file) => ({ file, path: (file.webkitRelativePath || file.name).replace(/^[^/]+\//, '') }))
    .filter(({ path }) => !skipped.test(path))
    .map(({ file, path }) => ({
      path,
      size: file.size,
      modified: file.lastModified,
      content: async () => new Uint8Array(await file.arrayBuffer()),
    }));
}
