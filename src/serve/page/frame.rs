//! `PageFrame`: what every page has around its content: the title, the links to the other pages, the search, and how current it is.
//! Below it are the pieces that several pages share.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets::STYLE;
use super::object_address::ObjectAddress;
use super::{PageView, Section, Shown, View};
use crate::serve::params::{CLUSTER, Params};
use crate::serve::snapshot::Snapshot;

/// What stands around the content of a page.
pub(super) struct PageFrame<'f> {
    /// The title of the window.
    pub(super) title: &'f str,
    /// Which link of the header leads to this page.
    pub(super) section: Section,
    /// The cluster that the page is about; `None` for an address that shows nothing.
    pub(super) snapshot: Option<&'f Snapshot>,
    /// How it follows the cluster; `None` if it does not.
    pub(super) live: Option<LiveFrame<'f>>,
    /// The text in the search field.
    pub(super) search: &'f str,
}

/// How a page follows the cluster.
pub(super) struct LiveFrame<'f> {
    /// Where its changes come from.
    address: String,
    /// How current it is.
    link: &'f Markup,
}

impl PageFrame<'_> {
    /// The whole page with this content.
    pub(super) fn around(&self, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (Shown(self.title)) }
                    link rel="icon" href="data:,";
                    style { (PreEscaped(STYLE)) }
                    @if self.live.is_some() { noscript { meta http-equiv="refresh" content="10"; } }
                    script src="/page.js" defer {}
                }
                body data-live=[self.live.as_ref().map(|live| &live.address)] {
                    a.skip href="#main" { "Skip to the content" }
                    (self.header())
                    main #main tabindex="-1" { (content) }
                    footer { "/ search · f filters · j k move · Enter open · Esc back" }
                }
            }
        }
    }

    fn header(&self) -> Markup {
        let current = |section| (self.section == section).then_some("page");
        html! {
            header {
                span.home { "kubectl spy" }
                nav.pages aria-label="Pages" {
                    a href="/" aria-current=[current(Section::Now)] { "Now" }
                    a href="/t" aria-current=[current(Section::Timeline)] { "Timeline" }
                }
                @if let Some(snapshot) = self.snapshot {
                    span.cluster { (Shown(&snapshot.cluster_words())) " " (Shown(&snapshot.place)) }
                }
                span #link role="status" {
                    @if let Some(live) = &self.live { (live.link) }
                }
                form action="/" method="get" role="search" {
                    input #search type="search" name="q" value=(Shown(self.search)) placeholder="Search (/)" aria-label="Search";
                }
            }
        }
    }
}

/// The whole page of a view.
pub(in crate::serve) fn page(view: &PageView, of: &dyn View, snapshot: &Snapshot) -> Markup {
    let frame = PageFrame {
        title: &view.title,
        section: of.section(),
        snapshot: Some(snapshot),
        live: Some(LiveFrame {
            address: of.live_address(),
            link: &view.link,
        }),
        search: of.search().unwrap_or_default(),
    };
    frame.around(&html! {
        div #summary { (view.summary) }
        (table(view))
        div #foot { (view.foot) }
        (of.panels())
    })
}

fn table(view: &PageView) -> Markup {
    html! {
        table #rows {
            thead {
                tr {
                    th scope="col" { "Name" }
                    @if view.has_clusters { th scope="col" { "Cluster" } }
                    th scope="col" { "Ready" }
                    th scope="col" { "Status" }
                    th scope="col" { "Restarts" }
                    th scope="col" { "Age" }
                }
            }
            @for row in &view.rows { (PreEscaped(&row.html)) }
        }
    }
}

/// The state of the connection, and a warning if the view may be out of date.
pub(super) fn link(snapshot: &Snapshot) -> Markup {
    let link = &snapshot.link;
    html! { span.lost[link.is_lost] { (Shown(&link.words)) } }
}

/// The same for a page about an object: of several clusters, it is about that of the object.
pub(super) fn link_to(cluster: &str, snapshot: &Snapshot) -> Markup {
    let cluster = snapshot.cluster_named(cluster);
    match cluster.filter(|_| snapshot.is_of_several()) {
        None => link(snapshot),
        Some(cluster) => match cluster.absence() {
            None => html! { span { "● live" } },
            Some(words) => html! { span.lost { "✗ " (Shown(&words)) } },
        },
    }
}

/// The begin of the path to an object: what is not well, and what of its cluster is not, if there are several.
pub(super) fn path_begin(cluster: &str, snapshot: &Snapshot) -> Markup {
    let of_cluster = Params::from_iter([(CLUSTER, cluster)]).to_query();
    html! {
        a href="/" { "Now" }
        @if snapshot.is_of_several() { " › " a href=(format!("/?{of_cluster}")) { (Shown(cluster)) } }
    }
}

/// A command that shows the same, with a button that copies it. The button needs the script, which shows it.
pub(super) fn copied(command: &str) -> Markup {
    html! { p.command { code { (command) } " " button type="button" data-copy=(command) hidden { "Copy" } } }
}

/// The pages about an object: the first letters of their addresses, and their names.
const PARTS: [(&str, &str); 5] = [
    ("o", "Now"),
    ("c", "Changes"),
    ("e", "Events"),
    ("l", "Logs"),
    ("g", "Graph"),
];

/// Links to the pages about an object. `current` is the letter of the shown one.
pub(super) fn parts(address: &ObjectAddress, current: &str) -> Markup {
    html! {
        nav.chips aria-label="Views" {
            @for (letter, name) in PARTS {
                a href=(address.path(letter)) aria-current=[(letter == current).then_some("page")] { (name) }
            }
        }
    }
}

/// A form that shows an object as it was. The script changes the address while the slider moves.
pub(super) fn as_of(address: &ObjectAddress, at: Option<&str>) -> Markup {
    html! {
        form.asof action=(address.path("o")) method="get" data-at=[at.map(Shown)] {
            label for="ago" { "As of" }
            input #ago type="range" name="ago" min="0" max="3600" step="10" value="0" aria-describedby="age";
            output #age for="ago" { "up to an hour ago" }
            label for="at" { "or" }
            input #at type="text" name="at" placeholder="3d, 2026-03-02T12:00:00Z" size="26";
            button type="submit" { "Show" }
        }
    }
}

/// The page for an address that shows nothing.
pub(in crate::serve) fn nothing(words: &str) -> Markup {
    let frame = PageFrame {
        title: "kubectl spy",
        section: Section::Other,
        snapshot: None,
        live: None,
        search: "",
    };
    frame.around(&html! {
        h1 { "Nothing to show" }
        @for line in words.lines() { p { (Shown(line)) } }
        p { a.way href="/" { "Show what is not well" } }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_has_one_title_and_a_way_past_the_header() {
        let html = nothing("error: it fails\nhint: do something").into_string();
        assert_eq!(html.matches("<h1>").count(), 1);
        assert!(html.contains("<a class=\"skip\" href=\"#main\">") && html.contains("id=\"main\""));
        assert!(html.contains("<p>hint: do something</p>"), "{html}");
        // A page that does not follow the cluster does not load itself again.
        assert!(
            !html.contains("http-equiv") && !html.contains("data-live"),
            "{html}"
        );
    }
}
