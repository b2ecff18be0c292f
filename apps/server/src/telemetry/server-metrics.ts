import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  operationNamed,
  sessionState,
  toolNamed,
  mcpToolNamed,
  type Event,
  type SessionSummary,
} from '@belay/protocol';
import type { AutomationCounts } from '../automations/automation-counts.js';
import type { FinishedSpan, SpanAttributes } from './finished-span.js';
import type { Meter, ObservableResult } from './open-telemetry.js';

/** What is counted at the time when the metrics are read. */
export interface ServerCounts {
  sessions(): Promise<Pick<SessionSummary, 'state'>[]>;
  sandboxes(): Readonly<Record<'connected' | 'starting' | 'lost' | 'warm', number>>;
  viewers(): number;
  automations: AutomationCounts;
}

/** Bounds of the conventions for requests to models, in seconds. */
const requestBounds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
/** Calls, questions and turns may take from milliseconds to hours, in seconds. */
const workBounds = [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

/** Attributes of spans that have few values, so that they can be labels. */
const labels = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.agent.name',
  'belay.approval.verdict',
  'belay.approval.by',
];

const tokens = { unit: '{token}' };

/**
 * The metrics of the server. None has an id of a session, a user’s text or a path; every label has few values, and the
 * SDK limits their number.
 */
export class ServerMetrics {
  readonly #durations;
  readonly #tokens;
  readonly #dollars;
  readonly #events;
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });

  constructor(meter: Meter, counts: ServerCounts) {
    const duration = (name: string, description: string, bounds = workBounds) =>
      meter.createHistogram(name, {
        description,
        unit: 's',
        advice: { explicitBucketBoundaries: bounds },
      });
    this.#durations = {
      request: duration(
        'gen_ai.client.inference.duration',
        'Requests to models, with their retries.',
        requestBounds,
      ),
      call: duration('gen_ai.execute_tool.duration', 'Calls of operations and tools.'),
      turn: duration('gen_ai.invoke_agent.duration', 'Turns of agents, with the time they wait.'),
      start: duration(
        'belay.sandbox.start.duration',
        'From a session’s start to its agent’s work.',
      ),
      approval: duration('belay.approval.duration', 'Time that calls waited for a decision.'),
    };
    const usage = (name: string, description: string) =>
      meter.createCounter(`gen_ai.client.inference.usage.${name}`, { ...tokens, description });
    this.#tokens = {
      'gen_ai.usage.input_tokens': usage('input_tokens', 'Tokens of prompts.'),
      'gen_ai.usage.output_tokens': usage('output_tokens', 'Tokens of replies.'),
      'gen_ai.usage.cache_read.input_tokens': usage(
        'cache_read.input_tokens',
        'Tokens of prompts that the provider had cached.',
      ),
    };
    this.#dollars = meter.createCounter('belay.usage.dollars', {
      description: 'The cost of models whose price is known.',
    });
    this.#events = meter.createCounter('belay.events', {
      description: 'Events stored, by source.',
    });
    addCounts(meter, counts);
    addAutomations(meter, counts.automations);
    this.#addProcess(meter);
  }

  countEvents(events: readonly Event[]): void {
    for (const { source } of events) this.#events.add(1, { source });
  }

  observe(span: FinishedSpan): void {
    const { kind, begun, ended, attributes, error } = span;
    const known = labelsOf(attributes);
    const failed = error === null ? {} : { 'error.type': error };
    const tool = kind === 'call' && { 'gen_ai.tool.name': toolLabel(attributes) };
    this.#durations[kind].record((ended - begun) / 1000, { ...known, ...tool, ...failed });
    if (kind !== 'request') return;
    for (const [name, counter] of Object.entries(this.#tokens))
      counter.add(Number(attributes[name] ?? 0), known);
    this.#dollars.add(Number(attributes['belay.usage.dollars'] ?? 0), known);
  }

  stop(): void {
    this.#delay.disable();
  }

  #addProcess(meter: Meter): void {
    this.#delay.enable();
    meter
      .createObservableGauge('process.memory.usage', {
        unit: 'By',
        description: 'Memory of the server’s process (its resident set).',
      })
      .addCallback((result) => result.observe(process.memoryUsage.rss()));
    meter
      .createObservableCounter('process.cpu.time', {
        unit: 's',
        description: 'Processor time of the server’s process.',
      })
      .addCallback((result) => {
        const { user, system } = process.cpuUsage();
        result.observe(user / 1e6, { 'cpu.mode': 'user' });
        result.observe(system / 1e6, { 'cpu.mode': 'system' });
      });
    meter
      .createObservableGauge('nodejs.eventloop.delay.p99', {
        unit: 's',
        description: 'Delay of the event loop since the last reading: 99th percentile.',
      })
      .addCallback((result) => {
        const delay = this.#delay.percentile(99);
        this.#delay.reset();
        if (Number.isFinite(delay)) result.observe(delay / 1e9);
      });
  }
}

function addCounts(meter: Meter, counts: ServerCounts): void {
  const gauge = (name: string, description: string, read: (to: ObservableResult) => unknown) =>
    meter
      .createObservableGauge(name, { description })
      .addCallback(async (to) => void (await read(to)));
  gauge('belay.sessions', 'Sessions, by state.', async (to) => {
    const found = Map.groupBy(await counts.sessions(), ({ state }) => state);
    for (const state of sessionState.options) to.observe(found.get(state)?.length ?? 0, { state });
  });
  gauge('belay.sandboxes', 'Sandboxes, by state; warm ones have no session yet.', (to) => {
    const { connected, starting, lost, warm } = counts.sandboxes();
    for (const [state, count] of Object.entries({ connected, starting, lost, warm }))
      to.observe(count, { state });
  });
  gauge('belay.viewers', 'Connections of dashboards and command lines.', (to) =>
    to.observe(counts.viewers()),
  );
}

function addAutomations(meter: Meter, automations: AutomationCounts): void {
  const counter = (what: Parameters<AutomationCounts['of']>[0], description: string) =>
    meter.createObservableCounter(`belay.automation.${what}`, { description }).addCallback((to) => {
      for (const [labels, count] of automations.of(what)) to.observe(count, { ...labels });
    });
  counter('deliveries', 'What was learned of, by transport and state.');
  counter('runs', 'Runs of automations that came into a state.');
  counter('outgoing', 'What runs send to git hosts, by kind and state.');
}

const labelsOf = (attributes: SpanAttributes): SpanAttributes =>
  Object.fromEntries(
    labels.flatMap((name) => {
      const value = attributes[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** MCP servers, installed actions and agents of other vendors name their tools as they like. */
function toolLabel({ 'gen_ai.tool.name': tool }: SpanAttributes): string {
  const name = String(tool);
  if (operationNamed(name)) return name;
  if (mcpToolNamed(name)) return 'mcp';
  return toolNamed(name) ? 'tool' : 'action';
}
