import { api, type SessionDefaults } from '@belay/protocol';
import { SettingsStore } from '../../settings/settings.store.js';
import { RestController, type RouteInputs } from './rest-controller.js';

/** The defaults of new sessions; a viewer may read them. */
@RestController(api.settings)
export class SettingsController {
  constructor(private readonly settings: SettingsStore) {}

  read(): Promise<SessionDefaults> {
    return this.settings.read();
  }

  change({ body }: RouteInputs<typeof api.settings>['change']): Promise<SessionDefaults> {
    return this.settings.change(body);
  }
}
