import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./program-tasks.container.js'));
