import type { McpServer, McpTransport } from '@belay/protocol';
import { filledLines } from '@/lib/filled-lines';
import { splitList } from '@/lib/split-list';
import { savedSecrets, secretsIn, type SecretField } from './secret-fields';

/** The values of the form, with texts as typed. */
export const newMcpFields = {
  name: '',
  type: 'http' as McpTransport['type'],
  url: '',
  headers: [] as readonly SecretField[],
  command: '',
  /** One argument per line. */
  args: '',
  env: [] as readonly SecretField[],
  where: 'container' as 'container' | 'host',
  image: '',
  folder: '',
  /** Separated by spaces or commas. */
  hosts: '',
};

export type McpFields = typeof newMcpFields;

export function mcpFieldsOf({ name, transport }: McpServer): McpFields {
  if (transport.type === 'http') {
    const { type, url, headers } = transport;
    return { ...newMcpFields, name, type, url, headers: savedSecrets(headers) };
  }
  const { type, command, args, env, host, image, folder, hosts } = transport;
  return {
    ...newMcpFields,
    name,
    type,
    command,
    args: args.join('\n'),
    env: savedSecrets(env),
    where: host ? 'host' : 'container',
    image: image ?? '',
    folder: folder ?? '',
    hosts: hosts.join(' '),
  };
}

export function transportOf(fields: McpFields): McpTransport {
  if (fields.type === 'http') {
    return { type: 'http', url: fields.url.trim(), headers: secretsIn(fields.headers) };
  }
  return {
    type: 'stdio',
    command: fields.command.trim(),
    args: filledLines(fields.args),
    env: secretsIn(fields.env),
    host: fields.where === 'host',
    image: fields.image.trim() || null,
    folder: fields.folder.trim() || null,
    hosts: splitList(fields.hosts),
  };
}
