import { z } from 'zod';
import {
  machine,
  machineDescription,
  machineName,
  ownSandboxes,
  placeLabel,
  placeLabels,
} from '../machines.js';
import { nothing, route } from './route.js';

/** The labels that an admin gives a machine. */
const ownLabels = placeLabels.refine((labels) => !(placeLabel in labels), {
  error: `the label ${placeLabel} is the server’s`,
});

export const machineRoutes = {
  list: route({
    method: 'GET',
    path: '/api/machines',
    summary: 'Lists the joined machines that the caller may start sessions on',
    response: z.array(machine),
    about: 'starting',
  }),
  /** The token is shown only once: the server stores its hash. */
  invite: route({
    method: 'POST',
    path: '/api/machines',
    summary: 'Creates a token with which one machine can join, once and within an hour',
    body: z.object({ name: machineName, labels: ownLabels.default({}) }),
    response: z.object({
      name: machineName,
      token: z.string(),
      expires: z.iso.datetime({ offset: true }),
    }),
    status: 201,
    access: 'admin',
  }),
  /** The token identifies the caller: no user is logged in on that machine. */
  join: route({
    method: 'POST',
    path: '/api/machines/join',
    summary: 'Joins the calling machine; returns a credential of its own',
    body: z.object({ token: z.string().min(1).max(200), description: machineDescription }),
    bodyBytes: 4_096,
    response: z.object({ id: z.string(), name: machineName, credential: z.string() }),
    status: 201,
    access: 'open',
  }),
  change: route({
    method: 'PATCH',
    path: '/api/machines/:machine',
    summary: 'Drains a machine, lets it take sessions again, or changes its labels',
    description:
      'Draining is repeatable: no session begins there any more, and those that run there go on elsewhere with the files of their last step, as far as they can. `moves` says what became of each.',
    body: z.object({ draining: z.boolean(), labels: ownLabels }).partial(),
    response: machine,
    access: 'admin',
  }),
  /** The token is for the agents’ own path, at which machines connect, too. */
  openTasks: route({
    method: 'POST',
    path: '/api/machines/:machine/tasks',
    summary: 'Creates a token with which one evaluation can run its tasks on a machine',
    description:
      'It is valid while the evaluation and the machine are connected. What the evaluation has begun there ends with its connection.',
    response: z.object({ token: z.string() }),
    status: 201,
    access: 'admin',
  }),
  own: route({
    method: 'GET',
    path: '/api/sandboxes',
    summary: 'Returns the load of the server’s own sandboxes',
    response: ownSandboxes,
    about: 'starting',
  }),
  openOwnTasks: route({
    method: 'POST',
    path: '/api/sandboxes/tasks',
    summary:
      'Creates a token with which one evaluation can run its tasks on the server’s own cluster',
    description:
      'It is valid while the evaluation is connected. What the evaluation has begun there ends with its connection. A server with a Docker Engine runs none: the evaluation does, on its own machine or on one that has joined.',
    response: z.object({ token: z.string() }),
    status: 201,
    access: 'admin',
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/machines/:machine',
    summary: 'Revokes a machine’s credential immediately and ends its sessions',
    response: nothing,
    access: 'admin',
  }),
};
