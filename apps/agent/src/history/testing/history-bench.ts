import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspaceOperations, type NewEvent, type OperationOutput } from '@belay/protocol';
import type { CopyStore } from '../copy-sender.js';
import { createHistory, type History } from '../history.js';

export type HistoryBench = ReturnType<typeof historyBench>;
type Operations = Omit<typeof workspaceOperations, 'workspace.trust'>;

/** For tests: a history of a temporary workspace, with the events it writes to the log. */
export function historyBench(
  options: { maxBytes?: number; git?: string; copies?: CopyStore } = {},
) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-history-')));
  const workspace = join(folder, 'workspace');
  const state = join(folder, 'state');
  const elsewhere = join(folder, 'elsewhere');
  for (const place of [workspace, elsewhere]) mkdirSync(place);
  const events: NewEvent[] = [];
  const writer = { append: (event: NewEvent) => void events.push(event) };
  const another = (more: { ownTimeoutMs?: number } = {}) =>
    createHistory({ workspace, state, writer, ...options, ...more });
  const history: History = another();
  const commits = () => events.filter((event) => event.action === 'commit');
  return {
    workspace,
    /** An empty folder next to the workspace. */
    elsewhere,
    state,
    history,
    another,
    commits,
    files: () =>
      commits().map((event) =>
        (event.args['files'] as { path: string }[]).map(({ path }) => path).sort(),
      ),
    async call<K extends keyof Operations>(name: K, input: unknown): Promise<OperationOutput<K>> {
      const definition = workspaceOperations[name];
      const handler = history.handlers[name] as (
        input: unknown,
        context: unknown,
      ) => Promise<unknown>;
      const context = { id: `call-${name}`, source: 'user', signal: new AbortController().signal };
      const output = await handler(definition.input.parse(input), context);
      return definition.output.parse(output) as OperationOutput<K>;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Every file and link below a folder, with its content and its executable bit. */
export function treeOf(folder: string, below = ''): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(join(folder, below)).toSorted()) {
    const path = join(below, name);
    const full = join(folder, path);
    const stats = lstatSync(full);
    const executable = (stats.mode & 0o100) === 0 ? '' : 'x ';
    if (stats.isSymbolicLink()) tree[path] = `-> ${readlinkSync(full)}`;
    else if (stats.isDirectory()) Object.assign(tree, treeOf(folder, path));
    else if (stats.isFile()) tree[path] = executable + readFileSync(full, 'latin1');
  }
  return tree;
}
