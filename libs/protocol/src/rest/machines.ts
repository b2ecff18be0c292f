import { z } from 'zod';
import { machine, machineDescription, machineName } from '../machines.js';
import { nothing, route } from './route.js';

export const machineRoutes = {
  list: route({
    method: 'GET',
    path: '/api/machines',
    summary: 'The machines that joined',
    response: z.array(machine),
  }),
  /** The token is shown once: the server keeps its hash. */
  invite: route({
    method: 'POST',
    path: '/api/machines',
    summary: 'Creates a token with which one machine joins, once and within the hour',
    body: z.object({ name: machineName }),
    response: z.object({
      name: machineName,
      token: z.string(),
      expires: z.iso.datetime({ offset: true }),
    }),
    status: 201,
    access: 'admin',
  }),
  /** The token is who calls: there is nobody logged in on that machine. */
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
    summary: 'Revokes a machine’s credential, at once; its sessions end',
    response: nothing,
    access: 'admin',
  }),
};
