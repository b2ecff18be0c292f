import { z } from 'zod';
import {
  agentChoice,
  agentProgramName,
  agentVersion,
  confirmedVersion,
  otherAgentVersion,
  savedCustomAgent,
} from '../agents.js';
import { nothing, route } from './route.js';

const params = z.object({ agent: agentProgramName });

/** The agents of other vendors. They are installed from the npm registry that the server’s machine uses. */
export const agentRoutes = {
  list: route({
    method: 'GET',
    path: '/api/agents',
    summary: 'Lists the agents that can be installed, and the entries of admins',
    response: z.array(agentChoice),
    about: 'starting',
  }),
  version: route({
    method: 'GET',
    path: '/api/agents/:agent/versions/:version',
    summary: 'Looks up a version of an agent that Belay has no lock for, in the npm registry',
    params: params.extend({ version: agentVersion }),
    response: otherAgentVersion,
    access: 'admin',
  }),
  install: route({
    method: 'POST',
    path: '/api/agents/:agent/install',
    summary: 'Installs or updates an agent in the background; `list` shows the progress',
    params,
    body: z.object({
      accept: z
        .boolean()
        .default(false)
        .describe('Accepts its licence; needed if that is proprietary.'),
      other: confirmedVersion
        .optional()
        .describe('Installs a version that Belay has no lock for; the locked one if omitted.'),
    }),
    response: agentChoice,
    status: 202,
    access: 'admin',
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/agents/:agent',
    summary: 'Removes an agent; the files of an installed one stay while a session has it',
    params,
    response: nothing,
    access: 'admin',
  }),
  logout: route({
    method: 'DELETE',
    path: '/api/agents/:agent/login',
    summary: 'Removes your sign-in to an agent, with everything that the agent keeps in that home',
    params,
    response: nothing,
  }),
  saveCustom: route({
    method: 'PUT',
    path: '/api/custom-agents/:agent',
    summary: 'Adds or replaces an agent whose program is in the image of a session',
    params,
    body: savedCustomAgent,
    response: agentChoice,
    access: 'admin',
  }),
};
