import type { NewSession } from '@belay/protocol';
import { client } from '@/lib/server';
import { changeOf, words, type DefaultTexts } from './default-texts';
import { packTar, type TarEntry } from './tar';

/** What the form holds; text as it was typed. */
export interface Draft {
  tasks: readonly string[];
  models: readonly string[];
  workspace:
    { kind: 'empty' } | { kind: 'example'; name: string } | { kind: 'folder'; files: File[] };
  image: string;
  /** What this session does not take from the server's settings. */
  own: Partial<DefaultTexts>;
  /** Undefined is all that are on. */
  mcp?: string[] | undefined;
  tags: string;
  root: boolean;
  trust: boolean;
}

export const emptyDraft: Draft = {
  tasks: [''],
  models: [],
  workspace: { kind: 'empty' },
  image: '',
  own: {},
  tags: '',
  root: false,
  trust: false,
};

/** One session for each task and model. */
export function sessionsOf(draft: Draft, workspace: string | null): NewSession[] {
  const tasks = draft.tasks.map((task) => task.trim()).filter(Boolean);
  return tasks.flatMap((task) =>
    draft.models.map((model): NewSession => ({
      task,
      model,
      image: draft.image.trim() || null,
      sandbox: draft.root ? 'root' : 'hardened',
      workspace,
      ...changeOf(draft.own),
      ...(draft.mcp && { mcp: draft.mcp }),
      trust: draft.trust,
      tags: words(draft.tags),
    })),
  );
}

/** Sends the chosen folder, if one was, and answers the workspace's name. */
export async function uploadWorkspace({ workspace }: Draft): Promise<string | null> {
  if (workspace.kind === 'empty') return null;
  if (workspace.kind === 'example') return `example:${workspace.name}`;
  const tar = packTar(entriesOf(workspace.files));
  const archive = new Uint8Array(await new Response(tar).arrayBuffer());
  return (await client.uploadWorkspace(archive)).workspace;
}

const skipped = /(^|\/)(node_modules|\.venv|__pycache__|\.DS_Store)(\/|$)/;

/** Files of a chosen folder without its own name, and without what is installed anew anyway. */
export function entriesOf(files: readonly File[]): TarEntry[] {
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
