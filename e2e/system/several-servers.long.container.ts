import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./several-servers.container.js'));
