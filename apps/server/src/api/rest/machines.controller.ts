import { Req } from '@nestjs/common';
import { api, type Machine, type RouteResult } from '@belay/protocol';
import type { Request } from 'express';
import { Machines } from '../../sandboxes/machines/machines.js';
import { MachineRemoval } from '../../sessions/machine-removal.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.machines>;

@RestController(api.machines)
export class MachinesController {
  constructor(
    private readonly machines: Machines,
    private readonly removal: MachineRemoval,
  ) {}

  list(_: unknown, @Req() request: Request): Machine[] {
    return this.machines.list(callerOf(request));
  }

  invite({ body }: Inputs['invite']): Promise<RouteResult<typeof api.machines.invite>> {
    return this.machines.invite(body.name);
  }

  join({ body }: Inputs['join']): Promise<RouteResult<typeof api.machines.join>> {
    return this.machines.join(body.token, body.description);
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.removal.remove(params.machine);
  }
}
