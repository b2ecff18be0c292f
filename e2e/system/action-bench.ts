import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { actionOutput, type ActionOutput } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import { docker, type BelayServer } from '@belay/testkit';

/** A picture of one point, as base64. */
export const dotPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** Actions with their manifests, which a server installs and runs; `dispose` removes their folder. */
export class ActionBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'belay-actions-'));

  constructor(private readonly server: BelayServer) {}

  dispose(): void {
    rmSync(this.folder, { recursive: true });
  }

  /** Calls the REST API; resolves with its answer, also if that is an error. Bytes are sent as a tar archive. */
  async api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(new URL(path, this.server.url), {
      method,
      headers: {
        authorization: `Bearer ${this.server.token}`,
        'content-type': isBytes ? 'application/x-tar' : 'application/json',
      },
      ...(body !== undefined && { body: isBytes ? (body as BodyInit) : JSON.stringify(body) }),
    });
    const text = await response.text();
    return (text ? JSON.parse(text) : {}) as Record<string, unknown>;
  }

  /** Writes an action into the folder: its program, its permissions and more of its manifest. */
  write(name: string, run: string, permissions: object = {}, more: object = {}): void {
    mkdirSync(join(this.folder, name));
    const manifest = {
      name_for_human: name,
      name_for_model: name,
      description_for_human: `Is ${name}.`,
      description_for_model: `Is ${name}.`,
      base_image: process.env['BELAY_TEST_BUSYBOX'],
      permissions: { memory_mb: 64, timeout_seconds: 60, ...permissions },
      ...more,
    };
    writeFileSync(join(this.folder, name, 'manifest.json'), JSON.stringify(manifest));
    writeFileSync(join(this.folder, name, 'run'), run);
    chmodSync(join(this.folder, name, 'run'), 0o755);
  }

  /** The final state of an install of these actions, or of all in the folder. */
  async installed(...names: string[]): Promise<Record<string, unknown>> {
    const tar = execFileSync('tar', ['-C', this.folder, '-c', '.']);
    const found = await this.api('POST', '/api/actions/uploads', tar);
    const wanted = { found: found['id'], ...(names.length > 0 && { names }) };
    const { id } = await this.api('POST', '/api/action-installs', wanted);
    return until(
      'the install',
      async () => {
        const now = await this.api('GET', `/api/action-installs/${String(id)}?wait=10`);
        return now['state'] !== 'running' && now;
      },
      { timeoutMs: 60_000 },
    );
  }

  /** Installs all actions in the folder, and gives some of them a secret `KEY`. */
  async install(secret: string, ...keyed: string[]): Promise<void> {
    const { state, lines } = await this.installed();
    expect({ state, lines }).toEqual({ state: 'done', lines });
    for (const name of keyed)
      await this.api('PUT', `/api/actions/${name}/secrets/KEY`, { value: secret });
  }

  /** Calls an action without a session. */
  async direct(name: string, input: object): Promise<ActionOutput> {
    const output = await this.api('POST', `/api/actions/${name}/calls`, input);
    const parsed = actionOutput.safeParse(output);
    if (!parsed.success) throw new Error(JSON.stringify(output));
    return parsed.data;
  }

  /** The names of the containers of actions. */
  async left(): Promise<string[][]> {
    const filters = { label: [`belay.data=${this.server.data}`, 'belay.action'] };
    return (await docker.listContainers({ all: true, filters })).map(({ Names }) => Names);
  }

  nothingIsLeft(): Promise<void> {
    return eventually(async () => expect(await this.left()).toEqual([]));
  }
}
