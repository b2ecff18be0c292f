import { createHash } from 'node:crypto';
import { actionManifest, newEvent, type MadeToken } from '@belay/protocol';
import { MachineStore } from '../sandboxes/machines/machine.store.js';
import { Sandboxes } from '../sandboxes/lifecycle/sandboxes.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { ProviderKeys } from '../models/provider-keys.js';
import { ActionStore } from '../actions/action.store.js';
import { Conversations } from '../api/gpt/conversations.js';
import { ownerCaller } from '../access/caller.js';
import { Database } from '../storage/database.js';
import { plantAutomation, plantedAutomation, plantHookSecret } from './planted-automation.js';
import { plantEvaluation } from './plant-evaluation.js';
import type { TestServer } from './server.js';

/** In every planted text, followed by its kind. */
export const marker = 'zebrafish';

/** What is planted, by kind: whether a route shows it to an admin. Secrets are shown to nobody. */
export const kinds = {
  session: 'shown',
  archived: 'shown',
  message: 'shown',
  terminal: 'shown',
  picture: 'shown',
  approval: 'shown',
  comparison: 'shown',
  rule: 'shown',
  general: 'shown',
  link: 'shown',
  token: 'shown',
  user: 'shown',
  machine: 'shown',
  mcp: 'shown',
  'mcp-secret': 'secret',
  git: 'shown',
  'git-secret': 'secret',
  provider: 'shown',
  'provider-secret': 'secret',
  action: 'shown',
  'action-secret': 'secret',
  agent: 'shown',
  'agent-secret': 'secret',
  template: 'shown',
  settings: 'shown',
  evaluation: 'shown',
  trial: 'shown',
  // Its page shows the name to whoever knows the id, which only the application does.
  application: 'secret',
  // Only a session that starts with it shows it.
  workspace: 'secret',
  conversation: 'secret',
  automation: 'shown',
  'automation-secret': 'secret',
} as const;
export type Kind = keyof typeof kinds;

/** The kind that is planted in each file and folder of the data folder, or the reason why none is. */
export const dataFiles: Record<string, Kind | { none: string }> = {
  'belay.db': 'session',
  'belay.db-shm': { none: 'part of the database' },
  'belay.db-wal': { none: 'part of the database' },
  blobs: 'picture',
  terminals: 'terminal',
  copies: { none: 'files of sandboxes, which only their sandboxes get' },
  workspaces: 'workspace',
  'secret.key': { none: 'the key of the documents, which no route reads' },
  'server.json': { none: 'the server’s own tokens, which no route reads' },
};

/** The kind that is planted in each document of the database. */
export const plantedDocuments: Record<string, Kind> = {
  actions: 'action',
  agents: 'agent',
  'action-secrets': 'action-secret',
  'git-hosts': 'git',
  'forge-hook-secrets': 'automation-secret',
  keys: 'provider',
  mcp: 'mcp',
  machines: 'machine',
  'oauth-clients': 'application',
};

export const plantedText = (kind: Kind): string => `${marker}-${kind}`;

/** The ids of what was planted. */
export interface ForeignThings {
  session: string;
  /** Ids that no request names: no answer may contain them. */
  unnamed: string[];
  /** A value for every parameter of a path, by the first part of the path after `/api` and its name. */
  params: Record<string, string>;
  /** Changes each thing that is sent live. */
  change(): Promise<void>;
}

/** Plants one thing of each kind, as an admin. */
export async function plantForeignThings(server: TestServer): Promise<ForeignThings> {
  const post = <T = { id: string }>(path: string, body: object) =>
    server.json<T>('POST', path, body);
  const session = await server.session({ task: plantedText('session') });
  const archived = await server.session({ task: plantedText('archived') });
  await server.json('PATCH', `/api/sessions/${archived}`, { archived: true });
  const picture = await uploaded(server, plantedText('picture'));
  await server.log.append(session, eventsWith(picture));
  const bytes = new TextEncoder().encode(plantedText('terminal'));
  await server.app.get(TerminalLog).append(session, 'main', 0, bytes);
  const [compared, scoped, general] = [
    await post<{ id: string; sessions: { id: string }[] }>('/api/comparisons', {
      task: plantedText('comparison'),
      models: ['scripted:x', 'scripted:y'],
    }),
    await post('/api/rules', { scope: 'session', session, ...ruleOn(plantedText('rule')) }),
    await post('/api/rules', { scope: 'all', ...ruleOn(plantedText('general')) }),
  ];
  const link = await post(`/api/sessions/${session}/links`, {
    label: plantedText('link'),
    expires: new Date(Date.now() + 3_600_000).toISOString(),
  });
  const [token, user] = [
    await post<MadeToken>('/api/tokens', { label: plantedText('token'), scope: 'view' }),
    await post('/api/users', { name: plantedText('user'), password: 'long enough', scope: 'view' }),
  ];
  const machine = await joinedMachine(server, session);
  await plantSettings(server);
  await plantAutomation(server, plantedText('automation'), session);
  await plantHookSecret(server, plantedText('automation-secret'));
  const run = await plantEvaluation(server, session, plantedText);
  await uploaded(server, plantedText('workspace'), '/api/workspaces');
  await server.app.get(Conversations).bind(ownerCaller, plantedText('conversation'), session);
  await plantEvidence(server, session);
  const change = async (): Promise<void> => {
    for (const id of [session, archived]) await server.log.append(id, eventsWith(picture));
    await server.app.get(TerminalLog).append(session, 'main', bytes.length, bytes);
    await run.report();
  };
  const [one = '', two = ''] = compared.sessions.map(({ id }) => id);
  return {
    session,
    unnamed: [archived, one, two, scoped.id, general.id, token.id, user.id, server.data],
    change,
    params: {
      ...namedThings,
      'sessions:id': session,
      'sessions:blob': picture,
      'sessions:link': link.id,
      'use_agent:agent_id': session,
      'comparisons:id': compared.id,
      'evaluations:id': run.id,
      'evaluations:blob': picture,
      'actions:blob': picture,
      'machines:machine': machine,
      'rules:rule': scoped.id,
      'tokens:token': token.id,
      'users:user': user.id,
    },
  };
}

const [actionName, mcpName, templateName, machineName] = ['loud', 'tools', 'daily', 'big'];
const agentName = 'planted';
const evidenceId = 'e'.repeat(64);

const ruleOn = (pattern: string) => ({
  operation: 'terminal.run',
  pattern: `${pattern} *`,
  verdict: 'approved',
  expires: null,
});

function eventsWith(picture: string): Parameters<TestServer['log']['append']>[1] {
  const text = plantedText('message');
  const id = plantedText('approval');
  const call = { id, operation: 'terminal.run', input: {}, risk: 'execute', subject: id };
  const args = { ...call, mode: 'ask', until: null } as never;
  return [
    newEvent('user', 'message', {
      args: { text, images: [picture], delivery: 'queue' },
      message: text,
    }),
    newEvent('server', 'approval', { args, message: text, id }),
    newEvent('user', 'publish', {
      args: { url: 'https://a.internal/a', ...publication },
      message: text,
    }),
  ];
}

const publication = { branch: 'a', base: 'a', commit: 'a', pullRequest: null };

/** Uploads a text; returns the id of its blob or workspace. */
async function uploaded(server: TestServer, text: string, path = '/api/blobs'): Promise<string> {
  const body = path === '/api/blobs' ? text : tarWith(text);
  const type = path === '/api/blobs' ? 'text/plain' : 'application/x-tar';
  const headers = { 'content-type': type, 'content-length': String(body.length) };
  const response = await server.fetch(path, { method: 'POST', body, headers });
  return Object.values((await response.json()) as Record<string, string>)[0] ?? '';
}

/** An empty archive with a text at its end, which is all that the server reads of one. */
const tarWith = (text: string): string => '\0'.repeat(1024) + text;

async function joinedMachine(server: TestServer, session: string): Promise<string> {
  const store = server.app.get(MachineStore);
  const { token } = await store.invite(machineName);
  const described = { host: plantedText('machine'), os: 'Linux', arch: 'x64', kind: 'container' };
  const { machine } = await store.join(token, described as never);
  server.app.get(Sandboxes).add({ session, machine: machine.id });
  return machine.id;
}

async function plantSettings(server: TestServer): Promise<void> {
  const internal = (kind: Kind): string => `${plantedText(kind)}.internal`;
  await server.json('PATCH', '/api/settings', { egress: { hosts: [internal('settings')] } });
  await server.json('PUT', `/api/templates/${templateName}`, { task: plantedText('template') });
  const url = `http://${internal('mcp')}:9/`;
  await server.json('POST', '/api/mcp', {
    name: mcpName,
    transport: { type: 'http', url, headers: { authorization: plantedText('mcp-secret') } },
  });
  await server.json('PUT', `/api/git/hosts/${internal('git')}`, {
    kind: 'gitea',
    private: true,
    token: plantedText('git-secret'),
  });
  await server.app.get(ProviderKeys).set('openai-compatible', {
    url: `http://${internal('provider')}/v1`,
    key: plantedText('provider-secret'),
  });
  await server.json('PUT', `/api/custom-agents/${agentName}`, {
    command: [plantedText('agent')],
    env: { KEY: plantedText('agent-secret') },
    protocol: 'acp',
  });
  await plantAction(server);
  await server.json('POST', '/oauth/register', {
    client_name: plantedText('application'),
    redirect_uris: ['https://app.example/'],
  });
}

async function plantEvidence(server: TestServer, session: string): Promise<void> {
  const signed = { payloadType: plantedText('session'), payload: '', signatures: [] };
  const envelope = JSON.stringify(signed);
  const named = { id: evidenceId, session, commit_id: 'a', created: 'a' };
  const evidence = { ...named, envelope, test_result: envelope };
  await server.app.get(Database).kysely.insertInto('evidence').values(evidence).execute();
}

async function plantAction(server: TestServer): Promise<void> {
  const store = server.app.get(ActionStore);
  const text = plantedText('action');
  const manifest = {
    schema_version: 'v1',
    name_for_human: 'Loud',
    name_for_model: actionName,
    description_for_human: 'Says it loudly.',
    description_for_model: 'Says it loudly.',
    // Calls without it are refused before they need a container.
    parameters: { type: 'object', required: ['word'], properties: { word: { type: 'string' } } },
    permissions: { secrets: ['API_KEY'] },
    services: { db: { image: text, environment: { PLACE: text }, port: 1 } },
  };
  await store.put({
    name: actionName,
    kind: 'action',
    enabled: true,
    current: {
      image: 'sha256:1',
      digest: createHash('sha256').update(text).digest('hex'),
      manifest: actionManifest.parse(manifest),
      readme: text,
      source: { from: `https://${text}.internal/me/loud`, version: null, commit: 'a', folder: '' },
      installed: new Date().toISOString(),
    },
    earlier: [],
  });
  await store.setSecret(actionName, 'API_KEY', plantedText('action-secret'));
}

/** Parameters whose values are known before. */
const namedThings: Record<string, string> = {
  'sessions:message': '1',
  'sessions:call': plantedText('approval'),
  'sessions:name': 'main',
  'gpt:name': 'files.read',
  'gpt:run': 'x',
  'automations:name': plantedAutomation.name,
  'automation-sources:id': plantedAutomation.source,
  'hooks:source': plantedAutomation.source,
  'hooks:id': plantedAutomation.id,
  'automation-runs:run': plantedAutomation.run,
  'action-installs:id': 'x',
  'actions:name': actionName,
  'actions:key': 'API_KEY',
  'actions:tool': 'x',
  'agents:agent': agentName,
  'agents:version': '1.2.3',
  'custom-agents:agent': agentName,
  'git:host': `${plantedText('git')}.internal`,
  'evidence:id': evidenceId,
  'keys:kid': evidenceId,
  'mcp:name': mcpName,
  'providers:provider': 'openai-compatible',
  'templates:name': templateName,
};
