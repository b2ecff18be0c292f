import { Req } from '@nestjs/common';
import { api, AppError, type Machine, type RouteResult } from '@belay/protocol';
import type { Request } from 'express';
import { Machines } from '../../sandboxes/machines/machines.js';
import { MachineRemoval } from '../../sessions/machine-removal.js';
import { LoginAttempts } from '../auth/login-attempts.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.machines>;

@RestController(api.machines)
export class MachinesController {
  readonly #attempts = new LoginAttempts();

  constructor(
    private readonly machines: Machines,
    private readonly removal: MachineRemoval,
  ) {}

  list(): Machine[] {
    return this.machines.list();
  }

  invite({ body }: Inputs['invite']): Promise<RouteResult<typeof api.machines.invite>> {
    return this.machines.invite(body.name);
  }

  async join(
    { body }: Inputs['join'],
    @Req() request: Request,
  ): Promise<RouteResult<typeof api.machines.join>> {
    const from = request.socket.remoteAddress ?? '';
    if (this.#attempts.areTooMany(from))
      throw new AppError('limit_reached', 'Too many failed attempts to join. Wait a minute.');
    try {
      return await this.machines.join(body.token, body.description);
    } catch (error) {
      this.#attempts.failed(from);
      throw error;
    }
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.removal.remove(params.machine);
  }
}
