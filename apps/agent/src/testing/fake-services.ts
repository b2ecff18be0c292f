import type { AgentServices, OperationHandlers } from '../agent-services.js';
import type { EventWriter } from '../event-writer.js';
import { createPlan } from '../plan/plan.js';

export interface FakeServicesOptions {
  handlers?: Partial<OperationHandlers>;
  guidance?: AgentServices['guidance']['read'];
  refusals?: AgentServices['refusals'];
  /** What the session’s program starts with. */
  environment?: ReturnType<AgentServices['environment']>;
}

/** What was done with the services. */
interface Done {
  killed: string[];
  commits: string[];
  running: { terminal: string; command: string }[];
}

/** Services of a stage without a sandbox: they note what they are asked to do. */
export function fakeServices(
  stage: Done,
  writer: EventWriter,
  options: FakeServicesOptions,
): AgentServices {
  const { handlers = {}, guidance = async () => [] } = options;
  const all = {
    ...createPlan({ writer, workspace: '/none', commit: async () => {} }).handlers,
    'workspace.trust': async () => ({ files: [] }),
    'terminal.interrupt': async ({ terminal }: { terminal: string }) => {
      stage.killed.push(terminal);
      stage.running = stage.running.filter((one) => one.terminal !== terminal);
    },
    ...handlers,
  };
  return {
    handlers: all as unknown as OperationHandlers,
    terminals: {
      keys: () => {},
      resize: () => {},
      hold: () => {},
      open: async () => {},
      running: () => stage.running,
      runProgram: async () => null,
    },
    history: {
      begin: async () => {},
      commit: async ({ id }) => void stage.commits.push(id),
      changesOf: async () => null,
      export: () => Promise.reject(new Error('not on this stage')),
      copies: { flush: async () => {}, close: async () => {} },
    },
    plan: { begin: async () => {}, check: async () => {} },
    placeSkill: async () => null,
    guidance: {
      handlers: { 'workspace.trust': async () => ({ files: [] }) },
      read: guidance,
      trustPresent: async () => {},
      show: () => {},
    },
    environment: () => options.environment ?? { workspace: '/none', env: {} },
    describe: async () => 'A stage.',
    watch: () => {},
    page: () => null,
    refusals: options.refusals ?? (async () => undefined),
    openGateway: async () => ({ port: 0, token: 'token', close: async () => {} }),
    close: async () => {},
  };
}
