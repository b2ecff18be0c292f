import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./panel-badge.spec'));
