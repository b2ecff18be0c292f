import { DockerTasks } from '@belay/containers';
import { longTestsOf } from '@belay/testing';
import { describeTasks } from './describe-tasks.js';

describeTasks('the Docker Engine as a host of tasks', async () => ({
  host: new DockerTasks(),
  close: async () => {},
}));

longTestsOf(() => jest.requireActual('./tasks.container.js'));
