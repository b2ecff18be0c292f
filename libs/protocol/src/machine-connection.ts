import { z } from 'zod';
import type { Contract } from './agent-connection.js';
import { hostCalls, hostServerCalls } from './host-connection.js';
import { machineDescription, nameOnMachine, placeCapacity } from './machines.js';
import { taskCalls } from './task-calls.js';

/** The name of a session’s folder, which the machine creates in its own folder. */
const folder = nameOnMachine;
const agentOnMachine = z.object({ sandbox: folder });

/** Calls that a bare machine serves: it starts and ends agents, which then connect to the server themselves. */
export const bareMachineCalls = {
  /** Starts the agent of a session; another agent that works on the same files is ended first. */
  'agents.start': {
    input: agentOnMachine.extend({
      session: z.string().max(100),
      /** The token with which the agent connects; the server stores its hash. */
      token: z.string().min(20).max(200),
      workspace: folder,
      state: folder,
    }),
    output: z.object({}),
  },
  /** Ends the agent; does nothing if it has already ended. */
  'agents.stop': { input: agentOnMachine, output: z.object({}) },
  /** Removes the files of a session, and ends the agent that works on them. */
  'files.remove': { input: z.object({ folders: z.array(folder).max(10) }), output: z.object({}) },
} satisfies Contract;

/** Calls that a joined machine serves, by its kind. */
export const machineCalls = { ...bareMachineCalls, ...hostCalls, ...taskCalls } satisfies Contract;

/** Calls that the server serves to a joined machine. */
export const machineServerCalls = {
  ...hostServerCalls,
  /**
   * First call on every connection, with the agents that run on a bare machine; returns those that must end. Containers
   * are followed by `host.watch`.
   */
  'machine.hello': {
    input: z.object({
      description: machineDescription,
      running: z.array(folder).max(1_000),
      /** What the machine has for agents in containers; the server counts those that run. */
      capacity: placeCapacity.optional(),
    }),
    output: z.object({ name: z.string(), end: z.array(z.string()) }),
  },
  /** An agent has ended without a request of the server. */
  'agents.ended': {
    input: agentOnMachine.extend({ reason: z.string().max(1_000) }),
    output: z.object({}),
  },
} satisfies Contract;
