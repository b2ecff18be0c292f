import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./shared-sessions.container.js'));
