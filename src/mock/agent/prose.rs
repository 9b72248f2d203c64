use super::output::{Kind, Output};
use super::project::Project;
use super::random::Random;
use super::words::{noun, title};

const SENTENCES: &[&str] = &[
    "Before a {n} can {v}, its {n} has to be {a}, because {s}.",
    "In most set-ups the {a} {n} lives beside the {n}, and {s}.",
    "If the {n} shows more than {d} {n} entries, {v} the {a} ones first and let the rest wait.",
    "A {a} {n} is not the same as a {a} {n}: the first belongs to the {n}, the second to nobody.",
    "Teams that {v} every {n} by hand find after {d} days that {s}.",
    "The default of {D} is right for a {a} {n}; raise it when {s}.",
    "Nothing here changes how a {n} is stored, only when it may {v}.",
    "To {v} it again, name the {n} and its {a} {n} in the same call.",
    "It was {a} for a reason: {s}, and the {n} had no way to {v}.",
    "Please note that the {n} stays {a} until {s}.",
    "With release {d}.{d} the {n} learnt to {v} without a {n}.",
];

const CHINESE_WORDS: &[&str] = &[
    "订单", "服务", "配置", "缓存", "队列", "仓库", "日志", "接口", "数据", "客户", "价格", "库存", "任务",
    "索引", "网关", "报告", "权限", "字段", "文档", "窗口", "发票", "渠道", "模板", "集群", "节点", "账户",
    "标签", "规则", "批次", "快照",
];

const CHINESE: &[&str] = &[
    "{w}更新以后, {w}必须重新加载, 否则{w}会一直显示旧的结果。",
    "我们检查了{w}和{w}之间的关系, 没有发现{w}丢失。",
    "如果{w}为空, 请先确认{w}是否已经写入{w}。",
    "这个问题只在{w}超过{d}条的时候出现, 与{w}无关。",
    "建议把{w}拆成{d}个部分, 分别由不同的{w}处理。",
    "昨天的{w}共有{D}条记录, 其中{d}条缺少{w}。",
    "团队决定保留{w}, 但不再使用旧的{w}。",
];

/// Sentences, about `words` words.
pub(super) fn paragraph(words: usize, project: &Project, random: &mut Random) -> String {
    let mut text = String::new();
    while text.split(' ').count() < words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&project.vocabulary.fill(random.pick(SENTENCES), random));
    }
    text
}

/// A web address that nothing else has.
pub(super) fn url(random: &mut Random) -> String {
    let site = random.pick(&["docs", "handbook", "wiki", "forum", "blog"]);
    let (host, section, page) = (noun(random), noun(random), noun(random));
    format!("https://{site}.{host}works.example/{section}/{page}-{}", random.between(1000, 99_999))
}

/// A web page as text, with links.
pub(super) fn page(out: &mut Output, project: &Project, random: &mut Random) {
    out.line(&format!("# {}", title(&project.vocabulary.fill("{a} {n} and {n}", random))));
    while !out.is_full() {
        out.line("");
        match random.below(6) {
            0 => out.line(&format!("## {}", title(&project.vocabulary.fill("{v} the {n}", random)))),
            1 => {
                let link = url(random);
                let label = project.vocabulary.fill("{a} {n}", random);
                out.line(&format!("See also [{label}]({link})."));
                out.mention(Kind::Url, &link, 0);
            }
            2 => {
                for _ in 0..random.between(2, 6) {
                    out.line(&project.vocabulary.fill("- {s}", random));
                }
            }
            _ => out.line(&paragraph((out.left() / 7).clamp(4, 70), project, random)),
        }
    }
}

/// What a search of the web finds.
pub(super) fn hits(out: &mut Output, project: &Project, random: &mut Random) {
    let mut number = 0;
    while !out.is_full() {
        number += 1;
        let link = url(random);
        out.line(&format!("{number}. {}", title(&project.vocabulary.fill("{a} {n}: {s}", random))));
        out.line(&format!("   {link}"));
        out.line(&format!("   {}", paragraph(12, project, random)));
        out.mention(Kind::Url, &link, 0);
    }
}

/// Notes in Chinese, which name files.
pub(super) fn chinese(out: &mut Output, project: &Project, random: &mut Random) {
    while !out.is_full() {
        let mut text = String::new();
        for _ in 0..random.between(1, 4) {
            let filled = project.vocabulary.fill(random.pick(CHINESE), random);
            text.push_str(&filled.split("{w}").collect::<Vec<_>>().join("\u{0}"));
        }
        while let Some(at) = text.find('\u{0}') {
            text.replace_range(at..=at, random.pick(CHINESE_WORDS));
        }
        if random.chance(0.3) {
            let path = &project.any(random).path;
            text.extend(["参见 ", path, "。"]);
            out.mention(Kind::Path, path, 0);
        }
        out.line(&text);
    }
}
