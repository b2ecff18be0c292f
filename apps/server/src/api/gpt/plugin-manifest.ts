import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, faultOf } from '@belay/protocol';
import { z } from 'zod';
import type { Config } from '../../config.js';

const texts = {
  name_for_human: z.string().min(1).max(20),
  name_for_model: z.string().regex(/^[a-zA-Z0-9_]{1,50}$/, 'letters, digits and _'),
  description_for_human: z.string().min(1).max(100),
  description_for_model: z.string().min(1).max(8_000),
  logo_url: z.url(),
  contact_email: z.email(),
  legal_info_url: z.url(),
};

/** The fields that `ai-plugin.json` in the data folder may set; environment variables take precedence. */
const configured = z
  .strictObject({
    ...texts,
    auth: z.record(z.string(), z.unknown()),
  })
  .partial();

/** The manifest of a ChatGPT plugin (Carabiner), with the public address filled in. */
export function pluginManifest(config: Config, origin: string): Record<string, unknown> {
  return {
    schema_version: 'v1',
    ...usual(origin),
    ...fromFile(join(config.data, 'ai-plugin.json')),
    ...fromEnvironment(config.environment),
    api: { type: 'openapi', url: `${origin}/gpt/openapi.json` },
  };
}

const usual = (origin: string) => ({
  name_for_human: 'Belay',
  name_for_model: 'belay',
  description_for_human: 'Machines in containers for commands, files and coding agents.',
  description_for_model:
    'Runs shell commands, reads and changes files, opens pages and lets coding agents work, each in a container of its own. When the user names an agent by its id, call useAgent with it first; else call startSession. Ask again for a call that is still running by its run.',
  auth: { type: 'user_http', authorization_type: 'bearer' },
  logo_url: `${origin}/gpt/logo.svg`,
  contact_email: 'nobody@localhost.localdomain',
  legal_info_url: `${origin}/gpt/legal`,
});

function fromFile(path: string): Record<string, unknown> {
  const text = textOf(path);
  if (text === undefined) return {};
  const { data, error } = configured.safeParse(parsed(text));
  if (data) return data;
  throw new AppError('internal', `${path} cannot be read (${faultOf(error)}). Correct it.`);
}

/** BELAY_PLUGIN_NAME_FOR_HUMAN and so on. */
function fromEnvironment(environment: Config['environment']): Record<string, unknown> {
  const set = Object.keys(texts).flatMap((name) => {
    const value = environment[`BELAY_PLUGIN_${name.toUpperCase()}`];
    return value ? [[name, value] as const] : [];
  });
  const { data, error } = configured.safeParse(Object.fromEntries(set));
  if (data) return data;
  throw new AppError('internal', `BELAY_PLUGIN_… cannot be read (${faultOf(error)}). Correct it.`);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="512" height="512"><rect width="64" height="64" rx="14" fill="#f5b83d"/><path d="M32 12a14 14 0 0 1 14 14v12a14 14 0 0 1-28 0V26a14 14 0 0 1 14-14zm0 7a7 7 0 0 0-7 7v12a7 7 0 0 0 14 0V26a7 7 0 0 0-7-7z" fill="#1d1d1b"/></svg>`;

export const legal =
  'This server belongs to whoever runs it. What is sent to it is stored there, in the logs of its sessions, until they are deleted. Its software is Belay, under the Apache License 2.0, without warranty.\n';
