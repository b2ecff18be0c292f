import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { sessionState, type SessionSummary } from '@belay/protocol';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { sees, seesAll, type Caller } from '../../access/caller.js';
import { SandboxService } from '../../sandboxes/sandbox.service.js';
import { EventLog } from '../../logs/event-log.js';
import { DashboardGateway } from '../dashboard/dashboard.gateway.js';

/** The server’s metrics, for Prometheus. */
@Injectable()
export class Metrics implements OnModuleDestroy {
  readonly #registry = new Registry();
  readonly #unsubscribe: () => void;
  #observesProcess = false;

  constructor(
    private readonly log: EventLog,
    gateway: DashboardGateway,
    sandboxes: SandboxService,
  ) {
    const registers = [this.#registry];
    const events = new Counter({
      name: 'belay_events_total',
      help: 'Events stored, by source.',
      labelNames: ['source'],
      registers,
    });
    const tokens = new Counter({
      name: 'belay_model_tokens_total',
      help: 'Tokens of prompts and replies.',
      registers,
    });
    this.#unsubscribe = log.subscribeAll((_session, stored) => {
      for (const { source, action, args } of stored) {
        events.inc({ source });
        if (action !== 'usage') continue;
        tokens.inc(Number(args['inputTokens'] ?? 0) + Number(args['outputTokens'] ?? 0));
      }
    });
    addSessions(this.#registry, () => log.summaries());
    new Gauge({
      name: 'belay_sandboxes',
      help: 'Sandboxes, by what they do; warm ones have no session yet.',
      labelNames: ['state'],
      registers,
      collect() {
        const { connected, starting, lost, warm } = sandboxes.counts;
        for (const [state, count] of Object.entries({ connected, starting, lost, warm })) {
          this.set({ state }, count);
        }
      },
    });
    new Gauge({
      name: 'belay_viewers',
      help: 'Connections of dashboards and command lines.',
      registers,
      collect() {
        this.set(gateway.viewers);
      },
    });
  }

  /** A caller who does not see all sessions gets the count of its visible ones, and no metrics of the server. */
  text(caller: Caller): Promise<string> {
    if (seesAll(caller)) {
      this.#observeProcess();
      return this.#registry.metrics();
    }
    const registry = new Registry();
    addSessions(registry, async () =>
      (await this.log.summaries()).filter(({ id }) => sees(caller, id)),
    );
    return registry.metrics();
  }

  /**
   * Started by the first request, because the observers of the event loop and garbage collection cannot be stopped.
   */
  #observeProcess(): void {
    if (this.#observesProcess) return;
    this.#observesProcess = true;
    collectDefaultMetrics({ register: this.#registry });
  }

  onModuleDestroy(): void {
    this.#unsubscribe();
  }
}

function addSessions(registry: Registry, list: () => Promise<SessionSummary[]>): void {
  new Gauge({
    name: 'belay_sessions',
    help: 'Sessions, by state.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const summaries = await list();
      for (const state of sessionState.options) {
        this.set({ state }, summaries.filter((summary) => summary.state === state).length);
      }
    },
  });
}
