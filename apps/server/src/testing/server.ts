import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { until } from '@belay/testing';
import { AppModule } from '../app.module.js';
import { Config } from '../config.js';
import { Identity } from '../api/auth/identity.js';
import { setUpHttp } from '../api/set-up-http.js';
import { ModelGateway } from '../models/model-gateway.js';
import { ContainerHost } from '@belay/containers';
import { CheckRunner } from '../sandboxes/lifecycle/check-runner.js';
import { ServerLifecycle } from '../sandboxes/lifecycle/server-lifecycle.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { EventLog } from '../logs/event-log.js';
import { FakeSandboxes } from './fake-sandboxes.js';
import { putTables } from './put-tables.js';

type Init = Omit<RequestInit, 'headers'> & { token?: string; headers?: Record<string, string> };

/** The whole server over HTTP, except containers and, unless it has the real ones, models. */
export class TestServer {
  app!: NestExpressApplication;
  sandboxes = new FakeSandboxes();
  models = {
    choose: (_name: string) => Promise.resolve(),
    check: () => Promise.resolve(),
    choices: () => Promise.resolve([]),
  };
  log!: EventLog;
  url!: string;
  token!: string;
  viewerToken!: string;
  data!: string;
  readonly #replaced = new Map<Type, unknown>();

  constructor(private readonly options: { realModels?: boolean } = {}) {}

  /** Replaces a provider from the next start on. */
  replace<T>(provider: Type<T>, value: Pick<T, keyof T>): this {
    this.#replaced.set(provider, value);
    return this;
  }

  async start(env: Record<string, string> = {}): Promise<this> {
    this.data ??= await mkdtemp(join(tmpdir(), 'belay-server-'));
    const config = new Config({ BELAY_DATA: this.data, BELAY_PORT: '0', BELAY_POOL: '0', ...env });
    await putTables(config);
    const builder = Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(Config)
      .useValue(config)
      .overrideProvider(SandboxService)
      .useValue(this.sandboxes)
      .overrideProvider(CheckRunner)
      .useValue(this.sandboxes)
      .overrideProvider(ServerLifecycle)
      .useValue({});
    if (!this.options.realModels) builder.overrideProvider(ModelGateway).useValue(this.models);
    for (const [provider, value] of this.#replaced)
      builder.overrideProvider(provider).useValue(value);
    const module = await builder.compile();
    module.get<ContainerHost>(ContainerHost).checks = () => this.sandboxes.checks();
    this.app = module.createNestApplication<NestExpressApplication>({
      bodyParser: false,
      // As in the real server: a response that its client does not read must not delay the
      // shutdown.
      forceCloseConnections: true,
      logger: ['error', 'fatal'],
    });
    setUpHttp(this.app);
    await this.app.listen(0, '127.0.0.1');
    this.log = this.app.get(EventLog);
    const identity = this.app.get(Identity);
    this.token = identity.token;
    this.viewerToken = identity.viewerToken;
    this.url = `http://127.0.0.1:${(this.app.getHttpServer().address() as AddressInfo).port}`;
    return this;
  }

  /** Simulates a restart of the process; containers keep running. */
  async restart(env: Record<string, string> = {}): Promise<this> {
    await this.app.close();
    this.sandboxes.hangUp();
    return this.start(env);
  }

  async close(): Promise<void> {
    await this.app.close();
    await rm(this.data, { recursive: true, force: true });
  }

  fetch(path: string, init: Init = {}): Promise<Response> {
    const { token = this.token, ...rest } = init;
    const headers = { ...(token && { authorization: `Bearer ${token}` }), ...rest.headers };
    return fetch(this.url + path, { redirect: 'manual', ...rest, headers });
  }

  async json<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<T & { status: number }> {
    const response = await this.fetch(path, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const answer = await response.text();
    const value = (answer ? JSON.parse(answer) : {}) as T;
    return Array.isArray(value) ? (value as never) : { ...value, status: response.status };
  }

  /** Creates a session and waits until its fake agent runs. */
  async session(more: object = {}): Promise<string> {
    const { id } = await this.json<{ id: string }>('POST', '/api/sessions', {
      task: 'Fix',
      model: 'scripted:x',
      ...more,
    });
    await this.reaches(id, 'running');
    return id;
  }

  /** Deletes every session, and what the fake sandboxes remember, so that tests can share the server. */
  async forgetSessions(): Promise<void> {
    for (const { id } of await this.log.summaries())
      await this.json('DELETE', `/api/sessions/${id}`);
    this.sandboxes.forget();
  }

  async reaches(id: string, state: string): Promise<void> {
    const now = async () => (await this.log.summary(id)).state;
    await until(`${id} is ${state}`, async () => (await now()) === state, { state: now });
  }
}
