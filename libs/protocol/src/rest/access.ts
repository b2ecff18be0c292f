import { z } from 'zod';
import {
  auditPage,
  madeToken,
  newToken,
  newUser,
  passwordChange,
  tokenInfo,
  userChange,
  userInfo,
} from '../access.js';
import { nothing, route } from './route.js';

const access = 'admin';

/** Tokens beside the server’s own two. */
export const tokenRoutes = {
  list: route({
    method: 'GET',
    path: '/api/tokens',
    summary: 'The tokens that were made, without their secrets',
    response: z.array(tokenInfo),
    access,
  }),
  create: route({
    method: 'POST',
    path: '/api/tokens',
    summary: 'Creates a token; it is shown only once',
    body: newToken,
    nameField: 'label',
    response: madeToken,
    status: 201,
    access,
  }),
  rotate: route({
    method: 'POST',
    path: '/api/tokens/:token/rotate',
    summary:
      'Gives a token another secret, also the server’s own two: `owner`, `viewer`; the old one is void at once, also on open connections',
    response: madeToken,
    access,
  }),
  revoke: route({
    method: 'DELETE',
    path: '/api/tokens/:token',
    summary: 'Revokes a token at once, also on open connections',
    response: nothing,
    access,
  }),
};

/** Accounts of a team’s server. Without any, everything is as on one’s own machine. */
export const userRoutes = {
  list: route({
    method: 'GET',
    path: '/api/users',
    summary: 'The users',
    response: z.array(userInfo),
    access,
  }),
  create: route({
    method: 'POST',
    path: '/api/users',
    summary: 'Adds a user who logs in with a password',
    body: newUser,
    nameField: 'name',
    response: userInfo,
    status: 201,
    access,
  }),
  change: route({
    method: 'PATCH',
    path: '/api/users/:user',
    summary: 'Changes scope or password of a user, who has to log in again',
    body: userChange,
    response: userInfo,
    access,
  }),
  /** The current password says who it is, so a user without a token may call it. */
  changePassword: route({
    method: 'POST',
    path: '/api/users/password',
    summary:
      'Changes one’s own password; whoever is logged in with the old one has to log in again',
    body: passwordChange,
    response: nothing,
    access: 'open',
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/users/:user',
    summary: 'Removes a user; what is open ends at once',
    response: nothing,
    access,
  }),
};

export const auditRoutes = {
  list: route({
    method: 'GET',
    path: '/api/audit',
    summary: 'Who changed what, and who was refused, newest first',
    query: z.object({
      before: z.coerce.number<number>().int().positive().optional(),
      limit: z.coerce.number<number>().int().positive().max(1_000).default(100),
      session: z.string().max(200).optional(),
      caller: z.string().max(200).optional(),
    }),
    response: auditPage,
    access,
  }),
};
