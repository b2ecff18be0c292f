import type { McpServer, McpTransport, NewMcpServer } from '@belay/protocol';

/** One header or variable. A saved value is not known here: it stays as it is while `value` is null. */
export interface Secret {
  key: number;
  name: string;
  value: string | null;
}

/** What the form holds; text as it was typed. */
export interface McpDraft {
  name: string;
  type: 'http' | 'stdio';
  url: string;
  headers: readonly Secret[];
  command: string;
  /** One argument in each line. */
  args: string;
  env: readonly Secret[];
}

let keys = 0;
export const newSecret = (name = '', value: string | null = ''): Secret => ({
  key: (keys += 1),
  name,
  value,
});

export function draftOf(server: McpServer | null): McpDraft {
  const transport = server?.transport;
  const http = transport?.type === 'http' ? transport : null;
  const stdio = transport?.type === 'stdio' ? transport : null;
  return {
    name: server?.name ?? '',
    type: transport?.type ?? 'http',
    url: http?.url ?? '',
    headers: (http?.headers ?? []).map((name) => newSecret(name, null)),
    command: stdio?.command ?? '',
    args: stdio?.args.join('\n') ?? '',
    env: (stdio?.env ?? []).map((name) => newSecret(name, null)),
  };
}

export function transportOf(draft: McpDraft): McpTransport {
  if (draft.type === 'http') {
    return { type: 'http', url: draft.url.trim(), headers: record(draft.headers) };
  }
  const args = draft.args.split('\n').filter((line) => line.trim() !== '');
  return { type: 'stdio', command: draft.command.trim(), args, env: record(draft.env) };
}

export const serverOf = (draft: McpDraft): NewMcpServer => ({
  name: draft.name.trim(),
  transport: transportOf(draft),
});

const record = (secrets: readonly Secret[]): Record<string, string | null> =>
  Object.fromEntries(
    secrets.flatMap(({ name, value }) => (name.trim() ? [[name.trim(), value]] : [])),
  );
