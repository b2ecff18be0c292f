import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ownValue } from '@belay/protocol';
import { Config } from '../../config.js';
import { Documents } from '../../storage/documents.js';

/** A secret of this server, and what it is in a sentence: “the token of github.com”. */
export interface KnownSecret {
  label: string;
  value: string;
}

/** Shorter ones are in too many texts by chance. */
const minLength = 8;
const maxSecrets = 5_000;

/**
 * All secrets of which this server has more than a hash: those in its documents and in its variables, and the keys of its
 * files. Documents that are added later are covered by the names of their fields.
 */
@Injectable()
export class KnownSecrets {
  constructor(
    private readonly config: Config,
    private readonly documents: Documents,
  ) {}

  async list(): Promise<KnownSecret[]> {
    const stored = await this.documents.stored();
    const found = [
      ...stored.flatMap(({ name, text }) => secretsOfDocument(name, text)),
      ...Object.entries(this.config.environment).flatMap(([name, value]) =>
        secretsOfVariable(name, value ?? ''),
      ),
      ...(await this.#documentKey()),
    ];
    return found.filter(({ value }) => value.length >= minLength).slice(0, maxSecrets);
  }

  async #documentKey(): Promise<KnownSecret[]> {
    try {
      const value = (await readFile(join(this.config.data, 'secret.key'), 'utf8')).trim();
      return [{ label: 'the key of this server’s documents', value }];
    } catch {
      // Only servers without BELAY_SECRET_KEY have the file.
      return [];
    }
  }
}

/** Documents that are secrets as a whole. */
const wholeDocuments: ReadonlySet<string> = new Set(['action-secrets', 'forge-hook-secrets']);
const secretName = /token|secret|passw|credential|authorization|cookie|(?:^|[_-]|api)key$/i;
/** What is said about a secret is none. */
const describesSecret = /(?:type|method|uri|url|endpoint|expires|expiry|name|at|id|hash)$/i;
const secretFolders: ReadonlySet<string> = new Set(['env', 'headers', 'secrets']);

function secretsOfDocument(document: string, text: string): KnownSecret[] {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return [];
  }
  const found: KnownSecret[] = [];
  for (const { path, value, owner } of leavesOf(read)) {
    const [name = ''] = path.slice(-1);
    const isNamed = secretName.test(name) && !describesSecret.test(name);
    const isIn = wholeDocuments.has(document) || path.some((part) => secretFolders.has(part));
    const passwords = passwordsOf(value);
    const label = labelOf(document, owner, name);
    if (isNamed || isIn) found.push({ label, value: withoutScheme(value) });
    for (const password of passwords) found.push({ label, value: password });
  }
  return found;
}

interface Leaf {
  path: readonly string[];
  value: string;
  /** Whose it is: the name of a host, a provider, a server. */
  owner: string;
}

const maxDepth = 12;

function* leavesOf(value: unknown, path: readonly string[] = [], owner = ''): Generator<Leaf> {
  if (typeof value === 'string') yield { path, value, owner };
  if (typeof value !== 'object' || value === null || path.length > maxDepth) return;
  const named = Array.isArray(value) ? owner : ownerOf(value, owner);
  for (const [key, part] of Object.entries(value))
    yield* leavesOf(part, Array.isArray(value) ? path : [...path, key], named || key);
}

function ownerOf(value: object, before: string): string {
  for (const key of ['host', 'name'])
    if (key in value) {
      const name = (value as Record<string, unknown>)[key];
      if (typeof name === 'string') return name;
    }
  return before;
}

const labels: Readonly<Record<string, (owner: string, name: string) => string>> = {
  'git-hosts': (owner) => `the token of ${owner}`,
  keys: (owner) => `the key of ${owner}`,
  'action-secrets': (owner, name) => `the secret ${name} of the action ${owner}`,
  mcp: (owner, name) => `${name} of the MCP server ${owner}`,
  'mcp-logins': (owner) => `the login at the MCP server ${owner}`,
  'own-tokens': () => 'a token of this server',
  signing: () => 'the key with which this server signs',
  'forge-hook-secrets': () => 'the secret of a webhook',
  agents: (owner, name) => `${name} of the agent ${owner}`,
};

function labelOf(document: string, owner: string, name: string): string {
  const label = ownValue(labels, document);
  return label?.(owner, name) ?? `a secret of “${document}”`;
}

const secretVariable =
  /(?:^|_)(?:API_?KEY|KEY|TOKEN|AUTHTOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|CREDENTIALS?)(?:_|$)/i;

function secretsOfVariable(name: string, value: string): KnownSecret[] {
  const label = `the variable ${name}`;
  const isPath = value.startsWith('/') || value.startsWith('~');
  const own = secretVariable.test(name) && !isPath ? [{ label, value: value.trim() }] : [];
  return [...own, ...passwordsOf(value).map((password) => ({ label, value: password }))];
}

/** Of addresses such as that of a database or a proxy. */
function passwordsOf(value: string): string[] {
  const url = /^[a-z][a-z0-9+.-]*:\/\/[^\s]*$/i.test(value) ? URL.parse(value) : null;
  if (!url) return [];
  const named = [...url.searchParams].flatMap(([name, part]) =>
    secretName.test(name) || /^(?:key|sig)$/i.test(name) ? [part] : [],
  );
  return [...(url.password === '' ? [] : [url.password, decoded(url.password)]), ...named];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const withoutScheme = (value: string): string =>
  value.trim().replace(/^(?:bearer|basic|token)\s+/i, '');
