import { Req } from '@nestjs/common';
import { api, AppError, type UserInfo } from '@belay/protocol';
import type { Request } from 'express';
import { assertWithinOwnTime } from '../../access/assert-within-own-time.js';
import { AuditLog } from '../../access/audit-log.js';
import { userIdOf, UsersStore } from '../../access/users.store.js';
import { callerOf } from '../auth/access.guard.js';
import { PasswordCheck, wrongPassword } from '../auth/password-check.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.users>;

@RestController(api.users)
export class UsersController {
  constructor(
    private readonly users: UsersStore,
    private readonly passwords: PasswordCheck,
    private readonly audit: AuditLog,
  ) {}

  list(): UserInfo[] {
    return this.users.list();
  }

  create({ body }: Inputs['create'], @Req() request: Request): Promise<UserInfo> {
    assertWithinOwnTime(callerOf(request), null);
    return this.users.create(body);
  }

  async change({ params, body }: Inputs['change'], @Req() request: Request): Promise<UserInfo> {
    assertWithinOwnTime(callerOf(request), null);
    return this.users.change(params.user, body);
  }

  /** Audited here, because the guard does not know the user. */
  async changePassword(
    { body: { name, password, newPassword } }: Inputs['changePassword'],
    @Req() request: Request,
  ): Promise<void> {
    const address = request.socket.remoteAddress ?? '';
    const what = { api: 'login', action: 'users.changePassword', address, subject: name } as const;
    const caller = await this.passwords.caller(address, name, password);
    if (!caller) {
      this.audit.record({ ...what, caller, outcome: 'unauthorized' });
      throw new AppError('unauthorized', wrongPassword);
    }
    await this.users.change(userIdOf(caller), { password: newPassword });
    this.audit.record({ ...what, caller, outcome: 'ok' });
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.users.remove(params.user);
  }
}
