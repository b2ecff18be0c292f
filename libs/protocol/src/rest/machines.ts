import { z } from 'zod';
import { machine, machineDescription, machineName } from '../machines.js';
import { nothing, route } from './route.js';

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
    body: z.object({ name: machineName }),
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
  remove: route({
    method: 'DELETE',
    path: '/api/machines/:machine',
    summary: 'Revokes a machine’s credential immediately and ends its sessions',
    response: nothing,
    access: 'admin',
  }),
};
