import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { belayVersion } from '@belay/protocol';
import type { OnWork } from '../storage/on-lead.js';
import { DashboardGateway } from '../api/dashboard/dashboard.gateway.js';
import { AutomationCounts } from '../automations/automation-counts.js';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { LogSpans } from './log-spans.js';
import type { OpenTelemetry } from './open-telemetry.js';
import { ServerMetrics } from './server-metrics.js';

/** How long a shutdown waits for the receiver of the last spans. */
const flushMs = 2_000;

/** Metrics and traces for OpenTelemetry; nothing is loaded or followed unless one of them is on. */
@Injectable()
export class Telemetry implements OnWork, OnApplicationShutdown {
  readonly #logger = new Logger(Telemetry.name);
  readonly #spans: LogSpans | undefined;
  #stop: (() => Promise<void>) | undefined;

  constructor(
    private readonly config: Config,
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly gateway: DashboardGateway,
    private readonly automations: AutomationCounts,
    store: SessionsStore,
  ) {
    const { traces, metrics } = config.telemetry;
    if (traces || metrics) this.#spans = new LogSpans(log, store, config.telemetry);
  }

  async onWork(): Promise<void> {
    const spans = this.#spans;
    if (!spans) return;
    const { traces, metrics } = this.config.telemetry;
    const sdk = await this.#load();
    const counted = metrics ? this.#serverMetrics(sdk) : undefined;
    const uncount = this.log.subscribeAll((_session, events) => counted?.countEvents(events));
    await spans.follow((span) => {
      counted?.observe(span);
      if (traces) sdk.write(span);
    });
    this.#stop = async () => {
      await this.log.drained();
      uncount();
      await spans.stop();
      await sdk.shutdown(flushMs);
      counted?.stop();
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#stop?.();
  }

  async #load(): Promise<OpenTelemetry> {
    const { OpenTelemetry: Sdk } = await import('./open-telemetry.js');
    const { environment, telemetry } = this.config;
    return new Sdk({
      version: belayVersion,
      traces: telemetry.traces,
      metrics: telemetry.metrics,
      log: (level, message) => this.#logger[level](message),
      logsItself: Boolean(environment['OTEL_LOG_LEVEL']),
      choosesDetectors: Boolean(environment['OTEL_NODE_RESOURCE_DETECTORS']),
    });
  }

  #serverMetrics({ meter }: OpenTelemetry): ServerMetrics {
    return new ServerMetrics(meter, {
      sessions: () => this.log.summaries(),
      sandboxes: () => this.sandboxes.counts,
      viewers: () => this.gateway.viewers,
      automations: this.automations,
    });
  }
}
