//! Tests of lists that are longer than the screen.

use super::super::columns::StatusColumns;
use super::super::rows::StatusRows;
use super::super::table::lines;
use super::*;
use crate::render::outline::ColumnMemory;

/// Sixty Pods: two of them fail, and three that work have changed lately.
fn sixty_pods() -> Cluster {
    let container = |number: i64| match number {
        17 | 40 => waiting("ImagePullBackOff", "no image"),
        _ => running(),
    };
    let pod_of = |number| {
        pod(
            &format!("web-{number:02}"),
            ("Job", "web"),
            container(number),
        )
    };
    let pods = (0..60).map(pod_of);
    let mut cluster = Cluster::of(state([all(PODS)]), pods);
    for (number, restarted) in [(30, 5), (50, 12), (59, 14)] {
        let mut pod = pod_of(number);
        pod["status"]["containerStatuses"][0]["restartCount"] = json!(1);
        cluster.write(&pod, at(restarted));
        cluster.settle(at(restarted));
    }
    cluster
}

fn lines_of(rows: &StatusRows<'_>, room: usize) -> String {
    let canvas = Canvas {
        rows: Some(room),
        ..Canvas::unbounded(look(Some(100)), at(16))
    };
    let columns = StatusColumns {
        clusters: false,
        namespaces: false,
        live: true,
        options: PLAIN,
        printed: Vec::new(),
        width: Some(100),
    };
    plain(lines(rows, &columns, &mut ColumnMemory::default(), canvas))
}

#[test]
fn rows_that_no_frame_has_room_for_are_counted_and_not_made() {
    let cluster = sixty_pods();
    let all = StatusRows::from(cluster.state.rows());
    assert_eq!(all.shown.len(), 60);
    for room in 1..70 {
        let within = cluster.state.rows_within(Some(room));
        assert!(within.shown.len() <= 2 + 2 * room, "{room}");
        assert_eq!(within.shown.len() + within.beyond, 60);
        assert_eq!(lines_of(&within, room), lines_of(&all, room), "{room}");
    }
}

#[test]
fn failing_and_recently_changed_rows_are_on_a_short_screen() {
    let cluster = sixty_pods();
    insta::assert_snapshot!(frame(&cluster, at(16), (100, 14)), @"
    pods  -n shop  ctx demo                                                  58 Current, 2 Failed  0:16
    NAME           READY   STATUS             RESTARTS   AGE
    ✗ pod/web-17   0/1     ImagePullBackOff   0          16s
      └ app: no image
    ✗ pod/web-40   0/1     ImagePullBackOff   0          16s
      └ app: no image
    ● pod/web-00   1/1     Running            0          16s
    ● pod/web-01   1/1     Running            0          16s
    ● pod/web-50   1/1     Running            1          16s
    ● pod/web-59   1/1     Running            1          16s
    + 54 healthy (use --once | less)
    ● live  60 objects  2 watches  last change 2s ago                                    Ctrl-C to exit
    ");
}
