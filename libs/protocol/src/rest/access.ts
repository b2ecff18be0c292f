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

/** Tokens besides the server’s own two. */
export const tokenRoutes = {
  list: route({
    method: 'GET',
    path: '/api/tokens',
    summary: 'Lists the tokens, without their secrets',
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
      'Replaces the secret of a token, or of the server’s own two, `owner` and `viewer`; the old secret stops working immediately, also on open connections, and ends logins and links that were made with it',
    response: madeToken,
    access,
    endsAccess: true,
  }),
  revoke: route({
    method: 'DELETE',
    path: '/api/tokens/:token',
    summary: 'Revokes a token immediately, also on open connections',
    response: nothing,
    access,
    endsAccess: true,
  }),
};

/** Accounts on a team’s server. A server without accounts behaves as on a user’s own machine. */
export const userRoutes = {
  list: route({
    method: 'GET',
    path: '/api/users',
    summary: 'Lists the users',
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
    summary: 'Changes the scope or password of a user, who then has to log in again',
    body: userChange,
    response: userInfo,
    access,
    endsAccess: true,
  }),
  /** The current password identifies the caller, so a user without a token may call it. */
  changePassword: route({
    method: 'POST',
    path: '/api/users/password',
    summary:
      'Changes the caller’s own password; browsers that logged in with the old one have to log in again',
    body: passwordChange,
    response: nothing,
    access: 'open',
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/users/:user',
    summary: 'Removes a user and closes their open connections immediately',
    response: nothing,
    access,
    endsAccess: true,
  }),
};

export const auditRoutes = {
  list: route({
    method: 'GET',
    path: '/api/audit',
    summary: 'Lists who changed what, and who was refused, newest first',
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
