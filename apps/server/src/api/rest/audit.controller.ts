import { api, type AuditPage } from '@belay/protocol';
import { AuditLog } from '../../access/audit-log.js';
import { RestController, type RouteInputs } from './rest-controller.js';

@RestController(api.audit)
export class AuditController {
  constructor(private readonly audit: AuditLog) {}

  list({ query }: RouteInputs<typeof api.audit>['list']): Promise<AuditPage> {
    return this.audit.page(query);
  }
}
