import type { McpServer, McpTransport, NewMcpServer } from '@belay/protocol';

/** One header or variable. A saved value is not known here: it stays as it is while `value` is null. */
export interface Secret {
  key: number;
  name: string;
  value: string | null;
}

/** What the form holds; text as it was typed. */
export interface McpFields {
  name: string;
  type: 'http' | 'stdio';
  url: string;
  headers: readonly Secret[];
  command: string;
  /** One argument in each line. */
  args: string;
  env: readonly Secret[];
  where: 'container' | 'host';
  image: string;
  folder: string;
  /** Separated by spaces or commas. */
  hosts: string;
}

let keys = 0;
export const newSecret = (name = '', value: string | null = ''): Secret => ({
  key: (keys += 1),
  name,
  value,
});

export function fieldsOf(server: McpServer | null): McpFields {
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
    where: stdio?.host ? 'host' : 'container',
    image: stdio?.image ?? '',
    folder: stdio?.folder ?? '',
    hosts: stdio?.hosts.join(' ') ?? '',
  };
}

export function transportOf(fields: McpFields): McpTransport {
  if (fields.type === 'http') {
    return { type: 'http', url: fields.url.trim(), headers: record(fields.headers) };
  }
  const args = fields.args.split('\n').filter((line) => line.trim() !== '');
  return {
    type: 'stdio',
    command: fields.command.trim(),
    args,
    env: record(fields.env),
    host: fields.where === 'host',
    image: fields.image.trim() || null,
    folder: fields.folder.trim() || null,
    hosts: fields.hosts.split(/[\s,]+/).filter(Boolean),
  };
}

export const serverOf = (fields: McpFields): NewMcpServer => ({
  name: fields.name.trim(),
  transport: transportOf(fields),
});

const record = (secrets: readonly Secret[]): Record<string, string | null> =>
  Object.fromEntries(
    secrets.flatMap(({ name, value }) => (name.trim() ? [[name.trim(), value]] : [])),
  );
