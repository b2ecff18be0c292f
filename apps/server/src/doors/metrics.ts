import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { sessionState } from '@belay/protocol';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { EventLog } from '../logs/event-log.js';
import { DashboardGateway } from './dashboard.gateway.js';

/** What the server counts, for Prometheus. */
@Injectable()
export class Metrics implements OnModuleDestroy {
  private readonly registry = new Registry();
  private readonly unsubscribe: () => void;

  constructor(log: EventLog, gateway: DashboardGateway, sandboxes: SandboxService) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
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
    this.unsubscribe = log.subscribeAll((_session, stored) => {
      for (const { source, action, args } of stored) {
        events.inc({ source });
        if (action !== 'usage') continue;
        tokens.inc(Number(args['inputTokens'] ?? 0) + Number(args['outputTokens'] ?? 0));
      }
    });
    new Gauge({
      name: 'belay_sessions',
      help: 'Sessions, by state.',
      labelNames: ['state'],
      registers,
      async collect() {
        const summaries = await log.summaries();
        for (const state of sessionState.options) {
          this.set({ state }, summaries.filter((summary) => summary.state === state).length);
        }
      },
    });
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

  text(): Promise<string> {
    return this.registry.metrics();
  }

  onModuleDestroy(): void {
    this.unsubscribe();
  }
}
